package memory

import "strings"

// isStopWord reports whether a word, in lower case, is among the most frequent words of a language,
// which do not show what a message is about.
func isStopWord(word string) bool {
	return strings.Contains(stopWords, " "+word+" ")
}

// isStopCharacter does the same for characters of Chinese and Japanese.
func isStopCharacter(c rune) bool { return strings.ContainsRune(stopCharacters, c) }

const stopCharacters = "的是了在我你他她它们這这那有和就不也都一个個为為什么麼吗嗎呢吧啊をにはがのとでもへかしたているすまなれよね"

const stopWords = " a about above after again all also am an and answer any are as ask at be because been before being below " +
	"between both but by can cannot could did do does doing don down each else ever every explain few find first for from further get give " +
	"go going good got had has have having he hello help her here hers hey hi him his how however i if in into is it its just know let " +
	"like ll look made make many may maybe me mean mention might more most much must my need never new no nor not now of off ok okay on " +
	"once one only or other our ours out over own please possible question really remember remind reply right said same say see " +
	"shall she should show since so some something still such sure take tell than thank thanks that the their them then there these they thing " +
	"things think this those though through to today tomorrow too two under until up us use ve very want was way we well were what when " +
	"where whether which while who whom whose why will with within without won word words would write yes yesterday yet you your yours " +
	"aber alle als also am an auch auf aus bei bin bis bist bitte da damit danke dann das dass dein dem den der des die dir doch du " +
	"ein eine einem einen einer eines er es für habe haben hallo hast hat hatte ich ihr im in ist ja jetzt kann kannst kein keine können " +
	"machen man mehr mein meine mich mir mit nach nicht noch nur oder ohne sag sage schon sehr sein sich sie sind so über um und " +
	"uns unser vom von vor war warum was weiter wenn wer wie wieder wir wird wo zu zum zur " +
	"au aux avec ce ces cette comment dans de du elle en est et être fait il ils je la le les leur lui ma mais me merci mes moi " +
	"mon ne nos notre nous on ou où par pas peux plus pour pourquoi qu quand que quel quelle qui quoi sa sans se ses si son " +
	"sont sur ta te tes toi ton tu un une vos votre vous " +
	"al como con cuál cual cuando cómo de del dónde donde el ella en eres es esa ese eso esta este esto está gracias hay hola la las lo los más " +
	"me mi mis muy no nos o para pero por porque puedes que qué quién se ser si sin sobre son su sus tu tus un una y ya yo " +
	"а бы был была были было быть в вам вас весь во вот все вы где да для до его ее если есть еще же за и из или им их к как " +
	"какая какие какой когда кто ли меня мне можно мой моя мы на не него нет но ну о об он она они оно от по почему при с со " +
	"скажи так такой там тебя то тобой того тоже только ты у уже что чтобы эта эти это этот я "
