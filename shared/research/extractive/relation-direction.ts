import { namesIn } from '../question/label-mentions.ts'
import { contentTerms, plainWords } from '../question/terms.ts'
import { readAskedVerb, saysOfVerb } from './asked-verb.ts'
import type { EvidenceUnit } from './evidence-units.ts'
import { asSpoken, MONTHS, namesSaid, readQuestionForm } from './question-form.ts'
import { holdsBothWays, type RelationEnd, statingEnd } from './thing-set.ts'

/**
 * The end of its relation at which a question asks: `Who taught Faraday?` for who states it, `Whom did Davy teach?` for
 * whom. `any`: nobody can tell.
 */
export function askedEnd(topic: string, name: string, relation: readonly string[]): RelationEnd | 'any' {
  const text = ` ${plainWords(asSpoken(topic)).join(' ')} `
  const phrase = ` ${plainWords(name).join(' ')} `
  const at = text.indexOf(phrase)
  const [ahead, behind] = [text.slice(0, at + 1), text.slice(at + phrase.length - 1)]
  const isAhead = contentTerms(ahead).some((term) => relation.includes(term))
  const isBehind = contentTerms(behind).some((term) => relation.includes(term))
  if (at < 0 || isAhead === isBehind) return 'any'
  if (isBehind) return endBehind(text, ahead, behind, relation)
  if (/^ whom (?!(?:is|are|was|were|does|do|did|has|have|had|will|would|can|could) )/.test(text)) return 'object'
  if (/^ (?:to|for|from|with) whom /.test(text)) return 'any'
  if (/ (?:by|of) (?:the )?$/.test(ahead)) return 'object'
  if (/ (?:is|are|was|were) (?:the )?$/.test(ahead))
    return /\S/.test(behind.replace(/ (?:and|but) $/, '')) ? 'object' : 'subject'
  if (/ (?:does|do|did|has|have|had|can) (?:the )?$/.test(ahead)) return 'object'
  if (/ (?:in|at|on|for|to|from|with|as|s) (?:the )?$/.test(ahead)) return 'any'
  return 'subject'
}

/** The relation stands behind the name: `did Acme buy`, `was Acme bought by`, `is Oslo the capital of`. */
function endBehind(text: string, ahead: string, behind: string, relation: readonly string[]): RelationEnd | 'any' {
  if (/^ by (?:whom?|which|what) /.test(text) || / (?:by|of) /.test(behind)) return 'subject'
  const verb = plainWords(behind).find((word) => contentTerms(word).some((term) => relation.includes(term))) ?? ''
  const isPassive = / (?:is|are|was|were|been|being) (?:the )?$/.test(ahead) && PARTICIPLE.test(verb)
  // `What is Kotlin named after?`: a fact and a sentence have it at two ends.
  if (isPassive && / (?:in|at|on|from|after|under|near|for|with|to) $/.test(behind)) return 'any'
  // `Is the bottle stored in the rack?`: what is stored states where.
  const isPlaced = new RegExp(
    `^.* ${verb} (?:in|at|on|of|from|after|under|near) (?!\\d|(?:${MONTHS.replaceAll(' ', '|')}) )`,
  ).test(behind)
  return isPassive && !isPlaced ? 'subject' : 'object'
}

const PARTICIPLE = /(?:ed|en|wn|ne|ld|lt|ught|ade|un|ung|old|ent)$/

/** Which units say the question's relation with what it names at its other end. */
export function turnedRound(
  topic: string,
  terms: readonly string[],
  labels: readonly string[],
): (unit: EvidenceUnit) => boolean {
  if (holdsBothWays(terms)) return () => false
  const { kind } = readQuestionForm(topic)
  const isOfWho = kind === 'who' || kind === undefined
  const names = [...new Set([...namesIn(topic, labels).names, ...namesSaid(topic.replace(/^\S+ /, 'x '))])]
  // A name that is no thing of the graph is no part of what is said of it either.
  const called = new Set(names.flatMap(contentTerms))
  const relation = terms.filter((term) => !called.has(term))
  const ends = names.flatMap((name) => {
    const asked = askedEnd(topic, name, relation)
    return asked === 'any' ? [] : [{ name, wanted: otherEnd(asked) }]
  })
  const verb = readAskedVerb(asSpoken(topic))
  const [, done = ''] = /^ who (?:is|are|was|were) (\S+) (?!by )/.exec(` ${plainWords(topic).join(' ')} `) ?? []
  const isPassive = PARTICIPLE.test(done) && contentTerms(done).some((term) => relation.includes(term))
  return (unit) => {
    if (verb !== undefined && unit.kind === 'sentence') {
      const says = saysOfVerb(verb, unit.text)
      if (says !== undefined) return says === 'turned'
    }
    if (!relation.some((term) => unit.terms.has(term))) return false
    if (unit.kind === 'fact') return isOfWho && ends.some(({ name, wanted }) => isOther(factEnd(unit, name), wanted))
    return ends.some(({ name, wanted }) => {
      if (isOther(sentenceEnd(unit.text, name, relation), wanted)) return true
      if (wanted !== 'object' || !isOfWho) return false
      // `Who was awarded the medal?` is not answered by who awarded it.
      return isPassive ? !verbIn(plainWords(unit.text), relation).isPassive : !isDoneToNamed(unit.text, name, relation)
    })
  }
}

/** Whom something is done to, for or with does not do it. */
function isOther(end: RelationEnd | 'any' | 'beside', wanted: RelationEnd): boolean {
  return end === 'beside' ? wanted === 'subject' : end !== 'any' && end !== wanted
}

function otherEnd(end: RelationEnd): RelationEnd {
  return end === 'subject' ? 'object' : 'subject'
}

/** At which end of a fact the named thing stands. */
function factEnd({ text, predicate = '', entities }: EvidenceUnit, name: string): RelationEnd | 'any' {
  // What a literal says of it has no other end.
  if (entities.size < 2) return 'any'
  const end = statingEnd({ predicate })
  const words = plainWords(text).join(' ')
  const plain = plainWords(name).join(' ')
  if (words.startsWith(`${plain} `)) return end
  return ` ${words} `.includes(` ${plain} `) ? otherEnd(end) : 'any'
}

/** The same of a sentence, by the order of its words and `by`. */
function sentenceEnd(text: string, name: string, relation: readonly string[]): RelationEnd | 'any' | 'beside' {
  const words = plainWords(text)
  const { verb, isPassive } = verbIn(words, relation)
  const said = ` ${words.join(' ')} `
  const at = said.indexOf(` ${plainWords(name).join(' ')} `)
  if (verb < 0 || at < 0) return 'any'
  const place = said.slice(0, at).split(' ').filter(Boolean).length
  const before = (words[place - 1] === 'the' ? words[place - 2] : words[place - 1]) ?? ''
  return place < verb ? endAhead(before, isPassive) : endPast(before, isPassive)
}

function endAhead(before: string, isPassive: boolean): RelationEnd | 'any' {
  if (before === 'by') return 'subject'
  if (BESIDE.test(before)) return 'any'
  return isPassive ? 'object' : 'subject'
}

function endPast(before: string, isPassive: boolean): RelationEnd | 'any' | 'beside' {
  if (before === 'by' || before === 'of') return 'subject'
  if (BESIDE.test(before)) return 'beside'
  return isPassive ? 'any' : 'object'
}

const BESIDE = /^(?:in|at|on|for|to|from|with|of)$/

/** Where the relation is said: at a participle behind `was`, else at its first word. */
function verbIn(words: readonly string[], relation: readonly string[]) {
  const places = words.flatMap((word, at) => (contentTerms(word).some((term) => relation.includes(term)) ? [at] : []))
  const passive = places.find(
    (at) => PARTICIPLE.test(words[at] ?? '') && words.slice(Math.max(0, at - 2), at).some((word) => BE_WORDS.has(word)),
  )
  return { verb: passive ?? places[0] ?? -1, isPassive: passive !== undefined }
}

const BE_WORDS: ReadonlySet<string> = new Set('is are was were be been being'.split(' '))
const PRONOUNS: ReadonlySet<string> = new Set('it they them he him she her this these'.split(' '))
/** Words between a verb and what it is done to. */
const OBJECT_NEAR = 4

/**
 * `Who wrote The Tern?` is not answered by who wrote its music: what is named stands right behind the verb, or before
 * `was written`, by a word of its name or a pronoun.
 */
function isDoneToNamed(text: string, name: string, relation: readonly string[]): boolean {
  const words = plainWords(text)
  const { verb, isPassive } = verbIn(words, relation)
  if (verb < 0) return true
  const own = new Set([...contentTerms(name)])
  const near = isPassive ? words.slice(0, verb) : words.slice(verb + 1, verb + 1 + OBJECT_NEAR)
  return near.some((word) => PRONOUNS.has(word) || contentTerms(word).some((term) => own.has(term)))
}
