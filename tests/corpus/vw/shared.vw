shared |f a
0:1 |g b
