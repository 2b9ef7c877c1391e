# Curves with points over a size. Set before: out, data (a block per curve, its title first), curves, plot_title, x_label,
# y_label, log_y, and the terminal.
set output out
set title plot_title noenhanced
set xlabel x_label noenhanced
set ylabel y_label noenhanced
set key outside right top vertical Left reverse samplen 2
set key noenhanced
set border 3
set tics nomirror out
set grid ytics linecolor rgb '#d8d8d8' linetype 1 linewidth 0.6
set format x '%.0f'
set xrange [0:*]
if (log_y) { set logscale y; set format y '%g' } else { set yrange [0:*]; set format y '%g' }
# colours that stay apart for the colour-blind, and a different mark each
colours = '#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #999999'
marks = '7 5 9 13 11 6 4 8'
plot for [i = 0:curves - 1] data index i using 1:2 with linespoints \
  linecolor rgb word(colours, i % 8 + 1) linewidth 2 pointtype int(word(marks, i % 8 + 1)) pointsize 0.7 \
  title columnheader(1)
