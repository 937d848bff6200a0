#!/bin/sh
# Makes sundry-cjk.otf and sundry-digits.otf, the fonts of the card, and
# OFL.txt, their licence.
#
# Both are subsets of Noto Sans CJK SC (Adobe and Google, SIL Open Font License
# 1.1). The first, in Regular, holds the characters of GB 2312, which is
# simplified Chinese with kana, Greek and Cyrillic; Latin-1; signs; and the
# characters in names of Chinese districts and townships that GB 2312 lacks.
# The second, in Bold, holds what addresses are written with. Neither has
# layout tables or hints, which the card's renderer does not use.
#
# Run in this folder, after: apt-get install fonts-noto-cjk python3-fonttools
set -eu

fonts=/usr/share/fonts/opentype/noto
licence=/usr/share/doc/fonts-noto-cjk/copyright
characters=$(mktemp)
trap 'rm -f "$characters"' EXIT

/usr/bin/python3 - >"$characters" <<'PYTHON'
import itertools
pairs = itertools.product(range(0xA1, 0xF8), range(0xA1, 0xFF))
print("".join(bytes(pair).decode("gb2312", "ignore") for pair in pairs))
print("".join(map(chr, range(0x20, 0x100))))
print("–—‘’“”…•€™")
print("〇㙍㙦㮾㯊㳇㵲䃥䢺伾俵倴僰剅勍咇嘡圐圙坬垇垕垞垟垯垱垵垾埇埌埗埫堌堎堨堽塅塚塝墕墘奓尓岙岞峃崀崁崄嵖"
      "巉巺廻弶旴旸昄朳枹栟桲椑榃氹氾汈汫汭沚泃洈洑洣洩洸洺浉浛浬浭浰涢涴淯滍滘漈漋漖漷漹澥澴濛瀂瀍瀼烔燊牁牂牤"
      "猇獏玕琯璪甪甽畖癿砲硍硚碁碶磏磑磜磻礐祐禇窊竜筜筸筼篢簕耈脿舲荄荍莿菉萣萩蔈蔴蔵虒輋邨邽郚郪鄌鄚鄠酂骔髙"
      "鮀鮜鲊鲖鲹鴜鷺臺灣")
PYTHON

# Number 2 of each collection is the simplified Chinese font.
subset() {
	/usr/bin/python3 -m fontTools.subset "$fonts/$1" --font-number=2 "$2" \
		--output-file="$3" --layout-features='' --no-hinting --desubroutinize \
		--drop-tables+=GSUB,GPOS,GDEF,BASE,VORG,vhea,vmtx --name-IDs='*'
}
subset NotoSansCJK-Regular.ttc --text-file="$characters" sundry-cjk.otf
subset NotoSansCJK-Bold.ttc --text='0123456789abcdef.:' sundry-digits.otf

{
	echo 'Copyright 2014-2021 Adobe (http://www.adobe.com/).'
	echo 'Noto is a trademark of Google Inc.'
	echo
	echo 'This Font Software is licensed under the SIL Open Font License, Version 1.1.'
	echo
	sed -n '/SIL OPEN FONT LICENSE/,/OTHER DEALINGS/s/^ \.\{0,1\}//p' "$licence"
} >OFL.txt
