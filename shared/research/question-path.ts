import { namesIn } from './names-in-question.ts'
import { termsOf } from './question-terms.ts'

/** A relation a described thing has. */
export interface PathRelation {
  /** Its terms; none: any relation, as in `the countries that use the euro`. */
  readonly terms: readonly string[]
  /** Labels it leads to, each of them. */
  readonly names: readonly string[]
}

/** A thing the question does not name but describes: `the country that borders France and Spain`. */
export interface PathStep {
  /** Its type, where the words before say one. */
  readonly type: string | undefined
  /** All of them hold; the last one leads to the next step's thing too, where there is a next step. */
  readonly relations: readonly PathRelation[]
}

/** What is asked of a thing that is described, the description from that thing on: each step leads to the next. */
export interface QuestionPath {
  /** Terms of what is asked; none: which things they are. */
  readonly asked: readonly string[]
  readonly steps: readonly PathStep[]
}

interface Known {
  readonly labels: readonly string[]
  /** Terms. */
  readonly types: readonly string[]
  /** Terms of predicates. */
  readonly relations: readonly string[]
}

/**
 * Reads `What is the capital of the country that borders France and Spain?` and `Which countries border both Germany and
 * Italy?` for what they ask and what they describe. undefined: a question of another form; most name what they ask about.
 */
export function questionPath(question: string, { labels, types, relations }: Known): QuestionPath | undefined {
  const { rest } = namesIn(question, [])
  const words = rest.replace(OPENING, ' ').replace(AS_CLAUSE, ' that $1')
  const from = words.search(CONNECTOR)
  if (from < 0) return whichOnes(namesIn(words, labels), types)
  const described = words.slice(from).replace(MORE, (text, and: string, word: string) => {
    return termsOf(word).some((term) => relations.includes(term)) ? ` ${and} that ${word}` : text
  })
  const first = namesIn(words.slice(0, from), labels)
  const clauses = described
    .split(CONNECTOR)
    .slice(1)
    .map((part) => namesIn(part, labels))
  if (first.names.length > 0 || clauses.at(-1)?.names.length === 0) return undefined
  return { asked: withoutType(first.rest, types), steps: stepsOf([first, ...clauses], types) }
}

/** The words a question begins with; they ask, and describe nothing. */
const OPENING = /^ (?:(?:in|on|of|to|from|by) )?(?:which|what|whose|who|where|how many|list|name)\b(?: all)?/
const AS_CLAUSE = / (bordering|neighbouring|neighboring|using|speaking|containing)\b/g
const CONNECTOR = / (?:(?:in|on|of|to|by) )?(?:that|which|whose|who|where)(?= )/
/** `whose capital is Lima and borders Brazil`: another clause. */
const MORE = / (and|but) (\S+)(?= (?!of ))/g
const AND = / (?:and|but) $/

type Part = ReturnType<typeof namesIn>

/** `countries border both Germany and Italy`: the things of a type that have a relation to what is named. */
function whichOnes({ names, rest }: Part, types: readonly string[]): QuestionPath | undefined {
  const [type, ...terms] = termsOf(rest)
  if (names.length === 0 || type === undefined || !types.includes(type)) return undefined
  return { asked: [], steps: [{ type, relations: [{ terms, names }] }] }
}

/** A clause after `and` says more of the thing the one before it describes. */
function stepsOf(parts: readonly Part[], types: readonly string[]): readonly PathStep[] {
  const steps: { readonly type: string | undefined; readonly relations: PathRelation[] }[] = []
  for (const [at, { names, rest }] of parts.slice(1).entries()) {
    const before = parts[at]?.rest ?? ''
    const isLast = at === parts.length - 2
    const relation = { terms: isLast ? termsOf(rest) : withoutType(rest, types), names }
    const same = AND.test(before) ? steps.at(-1) : undefined
    if (same === undefined) steps.push({ type: typeIn(before, types), relations: [relation] })
    else same.relations.push(relation)
  }
  return steps
}

/** The last of the terms, where it is a type: `.. of the country`. */
function typeIn(rest: string, types: readonly string[]): string | undefined {
  const last = termsOf(rest).at(-1)
  return last !== undefined && types.includes(last) ? last : undefined
}

function withoutType(rest: string, types: readonly string[]): readonly string[] {
  return typeIn(rest, types) === undefined ? termsOf(rest) : termsOf(rest).slice(0, -1)
}
