"""A learner for each group: the certificate of the sum beside what is true of every group, added up."""

import math

import numpy as np

import afterwit as aw
from expert_cases import CASES
from proving.expert_truths import ORACLES, OTHERS, regret_truth
from proving.experts import advice_for, play
from proving.judging import TWIN, Truth, key_of
from proving.searching import subject
from proving.sequences import pick, size

SUM = "reductions._group_certificates.SumOverGroups"


def judged_case(random):
    """One of those whose certificates follow from their state, with an oracle for each."""
    return pick(random, *[case for case in CASES if not case.base and case.name not in ("Exp3", "StronglyAdaptive")])


@subject("PerGroup", SUM)
def per_group(table, random):
    case, groups, n = judged_case(random), int(random.choice([1, 2, 5])), size(random)[1]
    runs, rounds = {}, []
    for group in range(groups):
        count = max(1, size(random, 20)[0])
        advice, outcomes = advice_for(random, case, count, n)
        if advice is None:
            return
        alone, runs[group] = play(random, case, n, advice, outcomes)
        runs[group].alone = alone
        rounds.append([(group, x, y) for x, y in zip(advice, outcomes.tolist(), strict=True)])
    learner = aw.PerGroup(case.make(n))
    # In any order, as long as that of each group stays.
    waiting = [iter(each) for each in rounds]
    order = random.permutation(np.repeat(np.arange(groups), [len(each) for each in rounds]))
    for group in order.tolist():
        learner.learn_one(*next(waiting[group]))
    found = learner.certificate()
    for group, run in runs.items():
        table.same(SUM, "PerGroup", learner[group] == run.alone, True, TWIN)
    total = found.total

    def truth():
        truths = []
        for group, made in found.parts.items():
            run, key = runs[group], key_of(type(made.theorem))
            if not run.exact or made.bound is None:
                return None
            truths.append(OTHERS[key](run, made) if key in OTHERS else regret_truth(run, made, ORACLES[key](run)))
        if None in truths or None in [each.bound for each in truths]:
            return None
        observed, bound, slack, uncertain = (
            math.fsum(float(getattr(each, name)) for each in truths)
            for name in ("observed", "bound", "slack", "bound_slack")
        )
        return Truth(observed, bound, slack, bound_slack=uncertain)

    if not total.theorem.chance:
        table.certificate(total, "PerGroup", truth)
