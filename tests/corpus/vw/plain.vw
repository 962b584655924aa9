1 |features 13:3.97e-02 24:0.34781646 69:4.6e-02
-1 |features 13:1 70
1 1.5 |features 24:2
