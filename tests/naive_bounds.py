"""The formulas of the theorems, written out one by one as the texts print them. Imports nothing from afterwit."""

from math import ceil, comb, e, exp, factorial, inf, log, log1p, log2, sqrt


def growth(m, d):
    return sum(comb(int(m), i) for i in range(int(d) + 1))


def weighted_majority(log_experts, best_mistakes, beta):
    if beta == 0:
        return log_experts / log(2) if best_mistakes == 0 else inf
    return (log_experts + best_mistakes * log(1 / beta)) / log(2 / (1 + beta))


def majority_vc(vc_dimension, votes):
    """Goes through the integers; the condition is in integers too. Once 2^m is ahead it stays ahead."""
    m = int(vc_dimension)
    while 2 ** (m + 1) <= growth(m + 1, vc_dimension) ** int(votes):
        m += 1
    return m


def fixed_share(log_experts, rounds, switches, share, rate):
    likelihood = switches * log(share) + (rounds - switches - 1) * log(1 - share)
    return (switches + 1) / rate * log_experts - likelihood / rate + rate * rounds / 8


def fixed_share_decreasing(log_experts, rounds, switches, rate):
    return (switches + 1) * (log_experts + log(rounds)) / rate + rate * rounds / 8


def fixed_share_anytime(log_experts, rounds, switches, tuned):
    """(C + ln T) / eta_T + 1/8 of 2 sqrt((k + 2) (1 + ln(N T))) times 2 sqrt(T)."""
    steep = (tuned + 2) * (1 + log_experts + log(rounds))
    rate = 2 * sqrt(steep / rounds)
    cost = (switches + 1) * (log_experts + log(rounds)) + log(rounds)
    return cost / rate + 2 * sqrt(steep) * 2 * sqrt(rounds) / 8


def selective(radius, b, norm, hinge_loss):
    """As it is stated, with its c."""
    K = ((radius * norm + sqrt(radius**2 * norm**2 + 4 * hinge_loss)) / 2) ** 2
    c = b + radius**2 / 2
    if norm > 0:
        c = min(c, radius * sqrt(K) / norm)
    return K * (1 - (c - radius**2 / 2) / b) + (c * hinge_loss + c**2 * norm**2 / 2) / b


BOUNDS = {
    "halving": lambda log_hypotheses: log_hypotheses / log(2),
    "generalized-halving": lambda bits: bits,
    "online-disjunction": lambda features: features,
    "winnow-disjunction": lambda literals, features: 2 * literals * log2(features) + 2,
    "littlestone": lambda log_hypotheses: log_hypotheses / log(2),
    "littlestone-lower": lambda vc_dimension: vc_dimension,
    "perceptron": lambda radius, margin: radius**2 / margin**2,
    "perceptron-hinge": lambda radius, norm, hinge_loss: radius**2 * norm**2 + 2 * hinge_loss,
    "passive-aggressive": lambda radius, longest_step, norm, hinge_loss: (
        max(radius**2, 1 / longest_step) * (norm**2 + 2 * longest_step * hinge_loss)
    ),
    "perceptron-hinge-sharper": lambda radius, norm, hinge_loss: (
        ((radius * norm + sqrt(radius**2 * norm**2 + 4 * hinge_loss)) / 2) ** 2
    ),
    "perceptron-late": lambda radius, margin, delay: (radius**2 + 2 * delay * radius**2) / margin**2,
    "perceptron-late-measured": lambda radius, margin, delays: (
        (radius**2 / margin**2 + sqrt(radius**4 / margin**4 + 8 * radius**2 / margin**2 * delays)) / 2
    ),
    "perceptron-late-hinge": lambda radius, norm, hinge_loss, delay: (
        ((radius * norm * sqrt(1 + 2 * delay) + sqrt(radius**2 * norm**2 * (1 + 2 * delay) + 4 * hinge_loss)) / 2) ** 2
    ),
    "perceptron-late-hinge-measured": lambda radius, norm, hinge_loss, delays: (
        hinge_loss + (radius**2 * norm**2 + radius * norm * sqrt(radius**2 * norm**2 + 4 * hinge_loss + 8 * delays)) / 2
    ),
    "margin-perceptron-late": lambda radius, margin, delay: 16 * radius**2 / margin**2 * (2 * delay + 1),
    "perceptron-mixed": lambda radius, margin: radius**2 / margin**2,
    "perceptron-mixed-hinge": lambda radius, norm, hinge_loss: (
        ((radius * norm + sqrt(radius**2 * norm**2 + 4 * hinge_loss)) / 2) ** 2
    ),
    "perceptron-mixed-total": lambda weighted, share: weighted / share,
    "margin-perceptron-mixed": lambda radius, margin: 16 * radius**2 / margin**2,
    "perceptron-update-hinge": lambda radius, rho, loss: (
        ((radius / rho + sqrt(radius**2 / rho**2 + 4 * loss)) / 2) ** 2
    ),
    "perceptron-update-hinge-simple": lambda radius, rho, loss: (radius / rho + sqrt(loss)) ** 2,
    "perceptron-update-hinge-euclidean": lambda radius, rho, loss: (radius / rho + loss) ** 2,
    "multiclass-perceptron": lambda radius, margin: 2 * radius**2 / margin**2,
    "multiclass-perceptron-hinge": lambda radius, norm, hinge_loss: 2 * radius**2 * norm**2 + 2 * hinge_loss,
    "multiclass-perceptron-hinge-sharper": lambda radius, norm, hinge_loss: (
        (sqrt(2) * radius * norm + sqrt(2 * radius**2 * norm**2 + 4 * hinge_loss)) ** 2 / 4
    ),
    "multiclass-perceptron-update-hinge": lambda radius, rho, loss: (
        (sqrt(2) * radius / rho + sqrt(2 * radius**2 / rho**2 + 4 * loss)) ** 2 / 4
    ),
    "multiclass-perceptron-update-hinge-simple": lambda radius, rho, loss: (sqrt(2) * radius / rho + sqrt(loss)) ** 2,
    "multiclass-perceptron-update-hinge-euclidean": lambda radius, rho, loss: (sqrt(2) * radius / rho + loss) ** 2,
    "perceptron-trained": lambda updates, radius, margin, rows: min(updates, radius**2 / margin**2) / rows,
    "svm-leave-one-out": lambda support_vectors, radius, margin, rows: (
        min(support_vectors, radius**2 / margin**2) / rows
    ),
    "selective-perceptron": lambda radius, b, norm, hinge_loss: (
        (1 + radius**2 / (2 * b)) * hinge_loss + norm**2 * (2 * b + radius**2) ** 2 / (8 * b)
    ),
    "selective-perceptron-sharper": lambda radius, b, norm, hinge_loss: selective(radius, b, norm, hinge_loss),
    "selective-perceptron-updates": lambda radius, b, norm, loss: (
        (1 + radius**2 / (2 * b)) * loss + norm**2 * (2 * b + radius**2) ** 2 / (8 * b)
    ),
    "margin-perceptron": lambda radius, margin: 16 * radius**2 / margin**2,
    "winnow": lambda features, radius, margin: 2 * radius**2 / margin**2 * log(features),
    "balanced-winnow": lambda features, radius, margin: 2 * radius**2 / margin**2 * log(2 * features),
    "winnow-rate": lambda features, radius, margin, rate: log(features) / (rate * margin - rate**2 * radius**2 / 2),
    "winnow-hinge": lambda features, radius, norm, hinge_loss, rate: (
        (norm * log(features) / rate + hinge_loss) / (1 - rate * radius**2 * norm / 2)
    ),
    "gradient-descent": lambda norm, rate, rounds, gradient: norm**2 / (2 * rate) + rate / 2 * rounds * gradient**2,
    "gradient-descent-late": lambda norm, rate, rounds, gradient, delays: (
        norm**2 / (2 * rate) + rate * gradient**2 * rounds / 2 + rate * gradient**2 * delays
    ),
    "gradient-descent-ball": lambda diameter, gradient, rounds, rate: (
        diameter**2 * sqrt(rounds) / (2 * rate) + (sqrt(rounds) - 1 / 2) * gradient**2 * rate
    ),
    "online-ridge": lambda penalty, norm, largest_target, features, rounds, radius: (
        penalty * norm**2 + largest_target**2 * features * log1p(rounds * radius**2 / features / penalty)
    ),
    "weighted-majority": weighted_majority,
    "randomized-weighted-majority": lambda log_experts, beta, best_loss: (
        log_experts / (1 - beta) + (2 - beta) * best_loss
    ),
    "randomized-weighted-majority-tuned": lambda log_experts, rounds: 2 * sqrt(rounds * log_experts),
    "two-random-experts": lambda rounds: sqrt(rounds / 8),
    "aggregating-algorithm": lambda log_experts, rate: log_experts / rate,
    "exponential-weights": lambda log_experts, rounds, rate: log_experts / rate + rate * rounds / 8,
    "exponential-weights-late": lambda log_experts, rounds, rate, delays: (
        log_experts / rate + rate * rounds / 8 + rate * delays / 4
    ),
    "exponential-weights-tuned": lambda log_experts, rounds: sqrt(rounds / 2 * log_experts),
    "exponential-weights-doubling": lambda log_experts, rounds: (
        sqrt(2) / (sqrt(2) - 1) * sqrt(rounds / 2 * log_experts) + sqrt(log_experts / 2)
    ),
    "exponential-weights-decreasing": lambda log_experts, rounds: (
        2 * sqrt(rounds / 2 * log_experts) + sqrt(log_experts / 8)
    ),
    "exponential-weights-adaptive": lambda log_experts, squared_ranges, largest_range: (
        sqrt(log_experts * squared_ranges) + 2 * largest_range
    ),
    "exponential-weights-square": lambda log_experts, largest_loss: (
        2 * largest_loss * log_experts + 17 / 16 * largest_loss
    ),
    "exp-concave": lambda log_experts, rate: log_experts / rate,
    "second-order": lambda log_experts, beta, squared_losses: log_experts / (1 - beta) + (1 - beta) * squared_losses,
    "second-order-tuned": lambda log_experts, rounds: 2 * sqrt(rounds * log_experts),
    "second-order-alpha": lambda log_experts, rounds, beta, alpha: (
        log_experts / (1 - beta) + (1 - beta) / alpha * rounds
    ),
    "polynomial": lambda log_experts, rounds, power, loss_range: (
        loss_range * sqrt((power - 1) * rounds * exp(log_experts) ** (2 / power))
    ),
    "polynomial-tuned": lambda log_experts, rounds, loss_range: loss_range * sqrt(e * (2 * log_experts - 1) * rounds),
    "sleeping": lambda log_experts, expert_mistakes, epsilon: (
        (1 + epsilon) * expert_mistakes + (1 + epsilon) * log_experts / log(1 + epsilon)
    ),
    "perturbed-leader": lambda rounds, epsilon, diameter, payoff, cost: (
        epsilon * payoff * cost * rounds + diameter / epsilon
    ),
    "perturbed-leader-tuned": lambda rounds, diameter, payoff, cost: 2 * sqrt(diameter * payoff * cost * rounds),
    "swap-regret": lambda experts, rounds, rate: experts * log(experts) / rate + rate * rounds / 8,
    "swap-regret-tuned": lambda experts, rounds: sqrt(rounds / 2 * experts * log(experts)),
    "fixed-share": fixed_share,
    "fixed-share-decreasing": fixed_share_decreasing,
    "fixed-share-anytime": fixed_share_anytime,
    "strongly-adaptive": lambda log_experts, rounds, length: (
        2 * (2 + sqrt(2)) * sqrt(length * (log_experts + log(rounds + 1) + log(1 + log2(rounds))))
    ),
    "exponentiated-gradient-portfolio": lambda log_assets, rounds, rate, ratio: (
        log_assets / rate + rate / 8 * rounds * (1 / ratio - 1) ** 2
    ),
    "exponentiated-gradient-portfolio-tuned": lambda log_assets, rounds, ratio: (
        (1 - ratio) / ratio * sqrt(rounds * log_assets / 2)
    ),
    "universal-portfolio": lambda assets, rounds: (assets - 1) * log(rounds + 1),
    "universal-portfolio-sampled": lambda portfolios: log(portfolios),
    "exp3": lambda experts, rounds, rate: log(experts) / rate + rate / 2 * rounds * experts,
    "exp3-tuned": lambda experts, rounds: sqrt(2 * rounds * experts * log(experts)),
    "exp3-decreasing": lambda experts, rounds: 2 * sqrt(rounds * experts * log(experts)),
    "adaptive-intervals": lambda miss, rate, rounds: rounds * miss + miss / rate + (1 - miss),
    "adaptive-coverage": lambda miss, rate, rounds: (max(miss, 1 - miss) + rate) / (rate * rounds),
    "tracking-intervals": lambda miss, rate, rounds, growth: rounds * miss + growth / rate + (1 + growth) * (1 - miss),
    "tracking-coverage": lambda miss, rate, rounds, growth: (
        max(growth / rate + (1 + growth) * (1 - miss), 1 / rate + (2 + growth) * miss) / rounds
    ),
    "progressive": lambda mean_loss, rounds, delta, loss_range: (
        mean_loss + loss_range * sqrt(2 * log(1 / delta) / rounds)
    ),
    "average": lambda mean_loss, rounds, delta, loss_range: mean_loss + loss_range * sqrt(2 * log(1 / delta) / rounds),
    "average-excess": lambda regret, rounds, delta, loss_range: (
        regret / rounds + 2 * loss_range * sqrt(2 * log(2 / delta) / rounds)
    ),
    "penalized-selection": lambda mean_loss, rounds, delta: (
        mean_loss + 6 * sqrt(1 / rounds * log(2 * (rounds + 1) / delta))
    ),
    "kernel-perceptron-margin": lambda mean_hinge, kernel_sum, rho, rounds, delta: (
        mean_hinge + 1 / (rho * rounds) * sqrt(kernel_sum) + 6 * sqrt(1 / rounds * log(2 * (rounds + 1) / delta))
    ),
    "random-stopping": lambda mistakes, samples: mistakes / samples,
    "large-gap": lambda mistake, error, delta: ceil(1 / error * log(1 / (delta / (mistake + 2) ** 2))),
    "controlled-testing": lambda hypothesis, error, delta: ceil(1 / error * log(1 / (delta / (hypothesis + 2) ** 2))),
    "boosting": lambda samples, gamma, rounds: samples * exp(-2 * rounds * gamma**2),
    "boosting-rounds": lambda samples, gamma: next(T for T in range(10**6) if log(samples) / (2 * gamma**2) < T),
    "self-play": lambda rounds, row_actions, column_actions: (
        (sqrt(rounds / 2 * log(row_actions)) + sqrt(rounds / 2 * log(column_actions))) / rounds
    ),
    "occam": lambda samples, log_hypotheses, delta: (log_hypotheses + log(1 / delta)) / samples,
    "occam-delta": lambda samples, error, log_hypotheses: min(1, exp(log_hypotheses) * exp(-error * samples)),
    "description-length": lambda samples, bits, delta: (bits * log(2) + log(1 / delta)) / samples,
    "description-length-delta": lambda samples, error, bits: min(1, 2**bits * exp(-error * samples)),
    "disjunction": lambda samples, features, delta: (features * log(2) + log(1 / delta)) / samples,
    "hoeffding": lambda samples, delta: sqrt(log(1 / delta) / (2 * samples)),
    "hoeffding-delta": lambda samples, deviation: exp(-2 * samples * deviation**2),
    "uniform-convergence": lambda samples, log_hypotheses, delta: sqrt(
        (log_hypotheses + log(2 / delta)) / (2 * samples)
    ),
    "uniform-convergence-delta": lambda samples, deviation, log_hypotheses: min(
        1, 2 * exp(log_hypotheses) * exp(-2 * samples * deviation**2)
    ),
    "regularised": lambda samples, bits, delta: sqrt((bits * log(4) + log(2 / delta)) / (2 * samples)),
    "regularised-delta": lambda samples, deviation, bits: min(1, 2 * 4**bits * exp(-2 * samples * deviation**2)),
    "vc": lambda samples, vc_dimension, delta: (
        2 / samples * (log2(2 * growth(2 * samples, vc_dimension)) + log2(1 / delta))
    ),
    "vc-delta": lambda samples, error, vc_dimension: min(
        1, exp(log(2 * growth(2 * samples, vc_dimension)) - log(2) * error * samples / 2)
    ),
    "vc-uniform": lambda samples, vc_dimension, delta: sqrt(
        8 / samples * (log(2 * growth(2 * samples, vc_dimension)) + log(1 / delta))
    ),
    "vc-uniform-delta": lambda samples, deviation, vc_dimension: min(
        1, exp(log(2 * growth(2 * samples, vc_dimension)) - samples * deviation**2 / 8)
    ),
    "growth": lambda points, vc_dimension: log(growth(points, vc_dimension)),
    "majority-vc": majority_vc,
}

#: The sample sizes as the texts print them, before they are rounded up; those that are solved for n are not among them.
SAMPLE_SIZES = {
    "occam": lambda error, log_hypotheses, delta: 1 / error * (log_hypotheses + log(1 / delta)),
    "description-length": lambda error, bits, delta: 1 / error * (bits * log(2) + log(1 / delta)),
    "disjunction": lambda error, features, delta: 1 / error * (features * log(2) + log(1 / delta)),
    "hoeffding": lambda deviation, delta: log(1 / delta) / (2 * deviation**2),
    "uniform-convergence": lambda deviation, log_hypotheses, delta: (
        1 / (2 * deviation**2) * (log_hypotheses + log(2 / delta))
    ),
    "regularised": lambda deviation, bits, delta: (bits * log(4) + log(2 / delta)) / (2 * deviation**2),
    "vc-closed": lambda error, vc_dimension, delta: max(
        4 / error * log2(2 / delta), 8 * vc_dimension / error * log2(13 / error)
    ),
    "progressive": lambda gap, delta, loss_range: 2 * log(1 / delta) * loss_range**2 / gap**2,
    "random-stopping": lambda mistakes, error: mistakes / error,
    "large-gap": lambda mistakes, error, delta: (
        1 / error * ((mistakes + 1) * log(1 / delta) + 2 * log(factorial(int(mistakes) + 2))) + mistakes + 1
    ),
}


def smallest_vc_sample(theorem, target, vc_dimension, delta):
    """Theorems 6.19 and 6.20 as they are printed, tried for one sample size after the other."""
    m = 1
    while True:
        ways = growth(2 * m, vc_dimension)
        if theorem == "vc" and m >= 2 / target * (log2(2 * ways) + log2(1 / delta)):
            return m
        if theorem == "vc-uniform" and m >= 8 / target**2 * (log(2 * ways) + log(1 / delta)):
            return m
        m += 1


def halting_time(mistakes, error, delta):
    """The longest run of the large gap procedure: all gaps but the last end in a mistake just before they are enough."""
    return sum(ceil(1 / error * log((i + 2) ** 2 / delta)) for i in range(int(mistakes) + 1))
