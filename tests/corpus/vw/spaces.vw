1 |a x:1 y |b:2 x:0.5 |a x:-3 

|c z
'tag | z:1e-3	w
