import { type Expression, parseExpression } from './expression.ts'

/** What `depends` may ask of a block: each is true or false once the block has ended. */
export const OUTCOMES = ['succeeded', 'failed', 'skipped', 'completed', 'cancelled', 'done'] as const

export type ReadDepends =
  | {
      readonly ok: true
      readonly expression: Expression
      /** Ids it names, in the order of their first mention. */
      readonly blocks: readonly string[]
    }
  | { readonly ok: false; readonly message: string }

/**
 * Reads a `depends`: an expression whose roots are block ids (dashes belong to them), each with one of OUTCOMES.
 * Evaluate it over `{ [id]: { succeeded: true, .. } }`. Whether the blocks exist is the caller's to say.
 */
export function parseDepends(source: string): ReadDepends {
  const parsed = parseExpression(source, { dashes: true })
  if (!parsed.ok) return parsed
  const { expression } = parsed
  for (const [block = '', outcome, ...more] of expression.paths) {
    if (outcome === undefined) return refuse(`${block} alone says nothing; write ${block}.succeeded`)
    if (more.length > 0 || !OUTCOMES.some((known) => known === outcome)) {
      return refuse(`"${[block, outcome, ...more].join('.')}" is no outcome; outcomes are ${OUTCOMES.join(', ')}`)
    }
  }
  return { ok: true, expression, blocks: [...new Set(expression.paths.map(([block = '']) => block))] }
}

function refuse(message: string): ReadDepends {
  return { ok: false, message }
}
