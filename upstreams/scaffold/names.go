package scaffold

import (
	"regexp"
	"strings"

	"sundry/upstreams/lib/plainjson"
)

// quote writes a text so that YAML and jq read it back.
func quote(text string) string { return string(plainjson.AppendString(nil, text)) }

var (
	camel   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	other   = regexp.MustCompile(`[^a-z0-9]+`)
	keyword = regexp.MustCompile(`^(and|or|not|if|then|elif|else|end|as|def|reduce|foreach|try|catch|label|import|include|__loc__)$`)
)

// snake makes a name of lower-case letters, digits and underscores. A name in other
// letters becomes field.
func snake(name string) string {
	name = camel.ReplaceAllString(name, "${1}_$2")
	name = strings.Trim(other.ReplaceAllString(strings.ToLower(name), "_"), "_")
	switch {
	case name == "":
		return "field"
	case name[0] >= '0' && name[0] <= '9':
		name = "n" + name
	case keyword.MatchString(name):
		name += "_of"
	}
	return name[:min(len(name), 32)]
}

// commonNames are Chinese for common names of fields.
func commonNames() map[string]string {
	return map[string]string{
		"id": "编号", "title": "标题", "name": "名称", "text": "正文", "content": "内容", "author": "作者", "url": "链接", "link": "链接", "page": "网页", "cover": "封面",
		"image": "图片", "picture": "图片", "pic": "图片", "avatar": "头像", "description": "描述", "desc": "描述", "date": "日期", "time": "时间", "created_at": "创建时间",
		"updated_at": "更新时间", "published_at": "发布时间", "count": "条数", "total": "总数", "items": "条目", "city": "城市", "country": "国家", "province": "省份", "ip": "IP 地址",
		"price": "价格", "status": "状态", "code": "代码", "message": "消息", "tags": "标签", "category": "分类", "type": "类型", "value": "值", "score": "分数", "duration": "时长",
		"width": "宽度", "height": "高度", "size": "大小", "lang": "语言", "language": "语言", "user": "用户", "comments": "评论", "views": "浏览次数", "temperature": "温度", "q": "查询词",
	}
}

// describe is a description to begin with.
func describe(name string) (en, zh string) {
	text := strings.ReplaceAll(name, "_", " ")
	en = strings.ToUpper(text[:1]) + text[1:] + "."
	if zh = commonNames()[name]; zh == "" {
		zh = text
	}
	return en, zh + "。"
}
