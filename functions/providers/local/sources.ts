import type { Json } from '../../../shared/canonical.ts'
import { plainLine, sentencesOf } from './sentences.ts'

/** What one input says, in its own words. */
export interface Source {
  readonly name: string
  /** Markdown headings and items of numbered or bulleted lists; of JSON the member names. */
  readonly headings: readonly string[]
  readonly sentences: readonly string[]
}

const MAX_CHARACTERS = 200_000
const MAX_LEAVES = 2_000
const HEADING = /^\s*(?:#{1,6}|[-*+•]|\d{1,3}[.)])\s+/

/**
 * Inputs as sentences. A JSON input is read through its strings; its numbers and booleans become `path: value`.
 * Bounded: 200,000 characters a text, 2,000 values a JSON input; object refs are no text and say nothing.
 */
export function sourcesOf(inputs: Readonly<Record<string, Json>>): readonly Source[] {
  return Object.entries(inputs).map(([name, value]) => {
    if (typeof value === 'string') return { name, ...ofText(value) }
    const leaves: string[] = []
    collect(name, value, leaves)
    return { name, headings: memberNames(value), sentences: [...new Set(leaves)] }
  })
}

function ofText(value: string): Omit<Source, 'name'> {
  if (value.startsWith('objstore://')) return { headings: [], sentences: [] }
  const text = value.slice(0, MAX_CHARACTERS)
  const headings = text
    .split(/\r\n|\n|\r/)
    .filter((line) => HEADING.test(line))
    .map(plainLine)
  return { headings: [...new Set(headings)].filter((line) => line !== ''), sentences: sentencesOf(text) }
}

function collect(path: string, value: Json, leaves: string[]): void {
  if (leaves.length >= MAX_LEAVES || value === null) return
  if (typeof value === 'string') leaves.push(...ofText(value).sentences)
  else if (typeof value !== 'object') leaves.push(`${path}: ${value}`)
  else for (const [key, member] of Object.entries(value)) collect(`${path}.${key}`, member, leaves)
}

function memberNames(value: Json): readonly string[] {
  const sample = Array.isArray(value) ? value[0] : value
  return typeof sample === 'object' && sample !== null && !Array.isArray(sample) ? Object.keys(sample) : []
}
