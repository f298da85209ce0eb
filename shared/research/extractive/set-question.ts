import { plainWords } from '../question/terms.ts'
import { readConditions } from './set-conditions.ts'
import { type SetOrder, takeOrder } from './set-order.ts'
import type { Reading, SetCondition } from './set-reading.ts'
import type { ThingSet } from './thing-set.ts'

/** A question about all things of a type: how many, which of them, which is the first by a number or date. */
export interface SetQuestion {
  readonly form: 'count' | 'list' | 'order'
  readonly conditions: readonly SetCondition[]
  readonly order?: SetOrder | undefined
  /** Ids of things it leaves out: `other elements`, `except Norway`. */
  readonly without: ReadonlySet<string>
  /** A condition that must hold of named things: ids of those. */
  readonly related: readonly string[]
}

const COUNT = /^ (?:how many|what is the (?:total )?number of|what number of|count)(?: all)?(?: of)?(?: the)? /
const LIST =
  /^ (?:(?:in|on|of|to|from|by|at|for) )?(?:which|what|who(?= (?:is|are|was|were) the )|list|name|show|give)(?: me)?(?: (?:is|are|was|were))?(?: all)?(?: of)?(?: the)? /
const FILLER =
  / (?:share|shares|sharing|shared|are there|is there|there are|exist|exists|in total|altogether|overall|in the world|in the graph|of all|known|were there|all)(?= )/g
const LEFT_OUT =
  / (?:besides|except(?: for)?|apart from|other than|excluding|aside from|in addition to)(?: the)? (@\d+(?:(?: and| or)?(?: the)? @\d+)*)(?= )/

/** undefined: it is of another form, or has words nobody here understands: then it is not answered from the set. */
export function readSetQuestion(topic: string, set: ThingSet): SetQuestion | undefined {
  const reading = { ...readNames(topic.slice(0, LONGEST_QUESTION), set), set }
  const plain = reading.text.replace(LEFT_OUT, ' ').replace(FILLER, ' ').replace(FILLER, ' ').replace(/ +/g, ' ')
  const parts = cutAtType(plain, set.word)
  if (parts === undefined) return undefined
  const ordered = takeOrder(parts.front, parts.back, set)
  if (ordered === 'unclear') return undefined
  const conditions = readConditions(ordered?.front ?? parts.front, ordered?.back ?? parts.back, reading)
  if (conditions === undefined) return undefined
  const exception = LEFT_OUT.exec(reading.text)?.[1]
  const form = ordered !== undefined ? 'order' : COUNT.test(plain) ? 'count' : 'list'
  if (form === 'list' && conditions.length === 0 && exception === undefined) return undefined
  const isOther = / (?:other|else) /.test(plain)
  return {
    form,
    conditions,
    order: ordered?.order,
    // Norland does not border itself, and is not asked for.
    without: new Set([...leftOut(reading, exception, isOther), ...conditions.flatMap(({ selves = [] }) => selves)]),
    related: conditions.flatMap(({ related }) => related),
  }
}

/** Characters: a question, not a document. */
const LONGEST_QUESTION = 600

/** What stands before the type the question asks of, behind `which`, and what stands behind it. */
function cutAtType(plain: string, word: string): { readonly front: string; readonly back: string } | undefined {
  const lead = COUNT.exec(plain) ?? LIST.exec(plain)
  const rest = lead === null ? '' : ` ${plain.slice(lead[0].length)}`
  const at = rest.indexOf(` ${word} `)
  if (at < 0 || rest.slice(0, at).split(' ').length > LONGEST_FRONT) return undefined
  const front = rest.slice(0, at + 1).replace(/ other(?= )/, ' ')
  return { front, back: ` ${rest.slice(at + word.length + 2)}`.replace(/ (?:other|else)(?= )/, ' ') }
}

/** Words before the type: `the three longest`. */
const LONGEST_FRONT = 7

function readNames(topic: string, { named }: ThingSet): Omit<Reading, 'set'> {
  const spoken = topic.replace(/n['’]t\b/g, ' not').replace(/\bcannot\b/gi, 'can not')
  const sentences = spoken.split(/(?<=[.!?])\s+(?=\p{Lu})/u)
  const phrases = named.flatMap((thing) =>
    [thing.label ?? '', ...(thing.aliases ?? [])].map((name) => ({ thing, phrase: plainWords(name).join(' ') })),
  )
  const groups = [...Map.groupBy(phrases, ({ phrase }) => phrase)].filter(([phrase]) => phrase.length > 1)
  const sorted = groups.toSorted(([a], [b]) => b.length - a.length)
  const names = sorted.map(([, of]) => [...new Set(of.map(({ thing }) => thing))])
  const marked = (text: string) =>
    sorted.reduce((said, [phrase], at) => said.replaceAll(` ${phrase} `, ` @${at} `), ` ${plainWords(text).join(' ')} `)
  return { text: marked(sentences.at(-1) ?? ''), names, before: marked(sentences.slice(0, -1).join(' ')) }
}

function idsAt(names: Reading['names'], at: string | undefined): readonly string[] {
  return (names[Number(at)] ?? []).map(({ entity_id }) => entity_id)
}

/** `other elements` leaves out what was named before, `except Norway` what is named there. */
function leftOut({ text, names, before, set }: Reading, exception: string | undefined, isOther: boolean) {
  const own = [...`${before} ${isOther ? text : ''} ${exception ?? ''}`.matchAll(/@(\d+)/g)].flatMap(([, at]) =>
    idsAt(names, at),
  )
  const members = new Set(set.members.map(({ entity_id }) => entity_id))
  return new Set(isOther || exception !== undefined ? own.filter((id) => members.has(id)) : [])
}
