import { isSign, type PassageWord, stem } from './passage-words.ts'

/**
 * Words that turn or bound what is said. What a passage has of them a claim may not leave out, and a claim brings none
 * of its own: they are compared as all its words are. A claim with one of them has all of its clause.
 */
const NEGATIONS =
  'not no never none nobody nothing nowhere neither nor without fail failed failure lack deny denied refuse decline reject false falsely untrue wrong wrongly hardly scarcely barely rarely seldom yet unable non instead rather unlike contrary myth hoax rumour rumor'
const HEDGES =
  'may might could would should can will shall must need ought possible possibly perhaps maybe probable probably likely unlikely alleged allege allegedly reported report reportedly claim claimed say said tell told according believe believed suspect suspected plan planned expect expected estimate estimated propose proposed intend intended hope aim seem appear suppose supposed supposedly purportedly ostensibly theoretically rumoured apparently potential potentially almost nearly about around approximately roughly think thought argue argued suggest suggested assume assumed predict predicted forecast warn fear insist maintain complain doubt wonder promise threaten attempt try allowed permitted required forbidden virtually so-called formerly'
const BOUNDS =
  'if unless except only until provided whether assuming either or little a_little much apart besides excluding barring otherwise all every each most many few a_few several some any both half least more less fewer than over under above below before after since against minimum maximum up partly partially mostly mainly largely usually often sometimes occasionally generally typically normally when whenever once pending subject'
const TURNING = withStems(`${NEGATIONS} ${HEDGES} ${BOUNDS}`)
export const NEGATING = withStems(NEGATIONS)

function withStems(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').flatMap((word) => [word, stem(word)]))
}

/** A month, a name or a thing is none of them: `on 3 May`, `Will Reed`, `the plan`. */
export function turns({ key, stem: base, kind, raw, article }: PassageWord): boolean {
  if (kind === 'name' && /^(?:may|will|hope)$/.test(raw)) return false
  if (article && NOUNS.has(key)) return false
  return TURNING.has(key) || TURNING.has(base) || isSign(key)
}

/** What holds of all of its clause or not at all; `about 840` and `than` only of the amount behind them. */
export function isAbsolute(word: PassageWord): boolean {
  return turns(word) && !NEARLY.has(word.key) && word.key !== 'than'
}

const NOUNS: ReadonlySet<string> = new Set(
  'plan report claim hope aim estimate attempt subject suspect promise will'.split(' '),
)

/** Of a whole sentence, in whatever clause they stand. */
export const OF_THE_WHOLE = withStems(
  'if unless except only provided assuming whether say said claim report tell according alleged allegedly reportedly deny denied false untrue wrong believe suspect rumour apparently supposedly purportedly when whenever pending otherwise',
)

/** What makes the most of a few, or the first of many: it holds of all that stands with it only. */
export function isUniversal({ key, kind, article }: PassageWord): boolean {
  if (kind !== 'word') return false
  return (
    (key.length > 5 && key.endsWith('est') && !NO_SUPERLATIVE.has(key)) ||
    (article && (key === '#1th' || key === 'last'))
  )
}

const NO_SUPERLATIVE: ReadonlySet<string> = new Set(
  'forest request interest harvest protest contest honest arrest suggest invest conquest earnest tempest'.split(' '),
)

/** Of the amount behind them. */
export const NEARLY: ReadonlySet<string> = new Set('about nearly almost around approximately roughly'.split(' '))
