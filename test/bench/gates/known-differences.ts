import type { Sample } from './samples.ts'

/** Why the two may answer differently: `only` passes there, the other does not. A first matching row explains. */
export interface KnownDifference {
  readonly gates: readonly string[]
  readonly only: 'ours' | 'theirs' | 'either'
  readonly why: string
  readonly when: (sample: Sample) => boolean
}

const TEMPLATES = /\{\{|\{%/
const NOT_DRAFT_7 = /prefixItems|dependentRequired/

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    gates: ['contains', 'contains, case_sensitive', 'contains_any', 'starts_with', 'equals', 'levenshtein', 'rouge_n'],
    only: 'either',
    why: 'promptfoo renders wanted texts as Nunjucks templates; ours are plain text',
    when: ({ theirs }) => TEMPLATES.test(JSON.stringify(theirs.value)),
  },
  {
    gates: ['contains', 'contains_any'],
    only: 'either',
    why: 'case is ignored by upper case, not lower: ß is SS, ﬁ is FI, ς is σ, İ is not i with a dot',
    when: ({ text }) => /[ßﬁİςΣσ]|SS|FI/i.test(text),
  },
  {
    gates: ['matches'],
    only: 'theirs',
    why: 'back-references, look-behind and look-ahead but behind ^ are refused: the engine is linear',
    when: ({ check }) => /\\1|\(\?<=|^\(\?=/.test(String(check.pattern)),
  },
  {
    gates: ['matches'],
    only: 'ours',
    why: 'inline flags and \\p{..} work without a flag',
    when: ({ check }) => /\(\?i\)|\\p/.test(String(check.pattern)),
  },
  {
    gates: ['matches'],
    only: 'either',
    why: 'a character is a code point (an emoji is one), and \\s, \\S, \\w, \\W and \\b are ASCII',
    when: ({ port, check }) => /[^\0-\x7f]/.test(String(port)) && /\.\{|\\[sSwWb]/.test(String(check.pattern)),
  },
  {
    gates: ['equals'],
    only: 'theirs',
    why: 'promptfoo compares texts: 1 equals "1", and a text of JSON equals the object',
    when: ({ port, check }) => typeof port !== typeof check.value,
  },
  {
    gates: ['word_count'],
    only: 'either',
    why: 'a word has a letter or digit: dashes, marks and emoji alone are none, and 3.14 or 385,207 are two',
    when: ({ port }) => /[^\p{L}\p{N}\s]/u.test(String(port)),
  },
  {
    gates: ['levenshtein'],
    only: 'ours',
    why: 'characters are code points: an emoji is one change, not two',
    when: ({ text }) => /[\u{10000}-\u{10ffff}]/u.test(text),
  },
  {
    gates: ['rouge_n'],
    only: 'either',
    why: 'punctuation is no word; promptfoo counts every mark as a token',
    when: ({ text }) => /[^\p{L}\p{N}\s]/u.test(text),
  },
  {
    gates: ['valid_json'],
    only: 'theirs',
    why: 'a number or boolean is not JSON text, and neither an object nor a list',
    when: ({ port }) => typeof port === 'number' || typeof port === 'boolean',
  },
  {
    gates: ['json_schema'],
    only: 'ours',
    why: 'draft 2020-12; promptfoo knows draft 7 and refuses its keywords',
    when: ({ check }) => NOT_DRAFT_7.test(JSON.stringify(check.schema)),
  },
  {
    gates: ['json_schema'],
    only: 'ours',
    why: 'format is not asserted (the default of draft 2020-12)',
    when: ({ check }) => JSON.stringify(check.schema).includes('"format"'),
  },
  {
    gates: ['json_schema'],
    only: 'ours',
    why: 'promptfoo parses a port that is text once more',
    when: ({ port }) => typeof port === 'string',
  },
  {
    gates: ['contains_json'],
    only: 'theirs',
    why: 'promptfoo reads it as YAML and closes open braces: {id: 1} and {"id": 1 are JSON to it',
    when: ({ port, check }) => check.schema === undefined && /\{/.test(String(port)),
  },
  {
    gates: ['contains_json'],
    only: 'ours',
    why: 'a list is JSON too; promptfoo looks for objects',
    when: ({ port }) => /\[/.test(String(port)),
  },
  {
    gates: ['contains_json'],
    only: 'theirs',
    why: 'the first JSON counts; to promptfoo any that fits, YAML and open braces included',
    when: ({ check }) => check.schema !== undefined,
  },
  {
    gates: ['is_refusal'],
    only: 'theirs',
    why: 'an apology or "I will not" alone refuses nothing, nor do such words further inside; empty is no refusal',
    when: ({ port }) => /^(?:Sorry|I apologize|I will not|It is illegal|\s)|cannot help/.test(String(port)),
  },
  {
    gates: ['is_refusal'],
    only: 'ours',
    why: 'more ways to say it: must decline, refuse to, against my guidelines',
    when: ({ port }) => /decline|refuse|violates|guidelines|We cannot/.test(String(port)),
  },
  {
    gates: ['valid_xml'],
    only: 'theirs',
    why: 'a document type is refused: nothing to expand',
    when: ({ port }) => String(port).includes('<!DOCTYPE'),
  },
  {
    gates: ['valid_xml'],
    only: 'ours',
    why: 'well-formed is enough; promptfoo wants prefixes declared (namespaces)',
    when: ({ port }) => /<x:y/.test(String(port)),
  },
  {
    gates: ['cost', 'latency'],
    only: 'theirs',
    why: 'an unknown or negative measurement never passes; to promptfoo null and -1 are small',
    when: ({ measured }) => measured === null || measured < 0,
  },
]
