
ByJš:hHD¢B‘C¥<