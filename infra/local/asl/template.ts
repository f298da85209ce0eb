import type { Json } from '../../../shared/canonical.ts'
import { compileExpression, type Evaluate, expressionIn } from './expression.ts'

const COMPILED = Symbol('compiled fields')

/** A state, catcher or rule of a loaded definition; its compiled fields live and go with it. */
interface Owner {
  [COMPILED]?: Record<string, Evaluate>
}

/**
 * The field `key` of a state, catcher or rule: JSON with `{% %}` expressions anywhere in it, or one expression. A
 * missing expression result fails the whole field. Values are shared, not copied: nobody may change what this answers.
 */
export function compileField<K extends string>(owner: { readonly [key in K]?: unknown }, key: K): Evaluate {
  const { [COMPILED]: fields = {} } = owner as Owner
  const known = fields[key]
  if (known !== undefined) return known
  const made = compileTemplate(owner[key])
  fields[key] = made
  // The one thing ever added to a definition; a symbol is neither in its JSON nor among its entries.
  ;(owner as Owner)[COMPILED] = fields
  return made
}

function compileTemplate(template: unknown): Evaluate {
  if (typeof template === 'string') {
    const expression = expressionIn(template)
    return expression === undefined ? () => template : compileExpression(expression)
  }
  if (typeof template !== 'object' || template === null) return () => template as Json
  return compileObject(template)
}

function compileObject(template: object): Evaluate {
  const isList = Array.isArray(template)
  const parts = Object.entries(template).map(([key, part]) => ({
    key,
    constant: isConstant(part),
    evaluate: compileTemplate(part),
  }))
  if (parts.every((part) => part.constant)) return () => template as Json
  return (states) => {
    const built: Record<string, Json> | Json[] = isList ? [] : {}
    const waiting: Promise<void>[] = []
    for (const { key, evaluate } of parts) put(built, key, evaluate(states), waiting)
    return waiting.length === 0 ? built : Promise.all(waiting).then(() => built)
  }
}

function put(
  built: Record<string, Json> | Json[],
  key: string,
  value: ReturnType<Evaluate>,
  waiting: Promise<void>[],
): void {
  // A list is filled by its index names; both shapes take the key as it is.
  const target = built as Record<string, Json>
  if (value instanceof Promise) {
    target[key] = null
    const fill = (settled: Json): void => {
      target[key] = settled
    }
    waiting.push(value.then(fill))
  } else {
    target[key] = value
  }
}

function isConstant(part: unknown): boolean {
  if (typeof part === 'string') return expressionIn(part) === undefined
  return typeof part !== 'object' || part === null || Object.values(part).every(isConstant)
}
