import * as z from 'zod'
import type { Json } from '../canonical.ts'
import { parseDepends } from './depends.ts'
import { parseExpression } from './expression.ts'
import { type Reading, readMember } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** An expression as written, and the places it reads. */
export interface Condition {
  readonly text: string
  readonly paths: readonly (readonly string[])[]
}

/** An expression over some roots; what cannot be read, or reads from elsewhere, is a problem. */
export function readCondition(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  roots: readonly string[],
): Condition | undefined {
  const text = readText(reading, given, path)
  if (text === undefined) return undefined
  const parsed = parseExpression(text)
  if (!parsed.ok) return refuse(reading, path, parsed.message)
  const { paths } = parsed.expression
  const foreign = paths.find(([root = '']) => !roots.includes(root))?.[0]
  if (foreign === undefined) return { text, paths }
  const hint = didYouMean(suggest(foreign, roots))
  return refuse(reading, path, `it reads ${quoted(foreign)}, and may read ${listed(roots)}`, hint)
}

/** `depends`: an expression over outcomes of blocks. Whether those exist is looked at with the wires. */
export function readDepends(reading: Reading, given: Json | undefined, path: Path): Condition | undefined {
  const text = readText(reading, given, path)
  if (text === undefined) return undefined
  const parsed = parseDepends(text)
  return parsed.ok ? { text, paths: parsed.expression.paths } : refuse(reading, path, parsed.message)
}

function readText(reading: Reading, given: Json | undefined, path: Path): string | undefined {
  return given === undefined ? undefined : readMember(reading, z.string(), given, path)
}

function refuse({ problems }: Reading, path: Path, why: string, hint?: string): undefined {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} is not an expression that can be used: ${why}`, hint })
  problems.push({ code: 'malformed_expression', path, say })
}
