1 |über straße:2 日本語 straße |w don't 100% 'q a^b #1
