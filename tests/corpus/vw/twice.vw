1 |a x:0.1 x:0.2 |a x:1e308
1 |a:1e-5 x x x
