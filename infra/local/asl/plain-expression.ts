import type jsonata from 'jsonata'
import type { Json } from '../../../shared/canonical.ts'

/** `$states` of one evaluation. */
export interface States {
  readonly input: Json
  readonly result?: Json
  readonly errorOutput?: Json
  readonly context: Json
}

/** Answers the value, or undefined where jsonata itself has to decide (missing member, array on the way, ...). */
export type Plain = (states: States) => Json | undefined

type Node = jsonata.ExprNode

/**
 * A direct evaluator for the expressions machines are full of: literals, paths of `$states`, objects of them and `=`
 * between them. Held equal to jsonata by a property test; everything else answers undefined: use jsonata.
 */
export function plainExpression(node: Node): Plain | undefined {
  if (node.type === 'string' || node.type === 'number' || node.type === 'value') return literal(node)
  // jsonata's type names lack 'path'.
  if ((node.type as string) === 'path') return statesPath(node)
  if (node.type === 'unary' && node.value === '{') return plainObject(node)
  if (node.type === 'binary' && node.value === '=') return plainEquals(node)
  return undefined
}

function literal(node: Node): Plain {
  const value: Json = node.value
  return () => value
}

function statesPath(node: Node): Plain | undefined {
  const [first, ...rest] = node.steps ?? []
  const plain = onlyKeys(node, ['type', 'steps', 'position']) && [first, ...rest].every(isPlainStep)
  if (!plain || first?.type !== 'variable' || first.value !== 'states') return undefined
  if (rest.length === 0 || rest.some((step) => step.type !== 'name')) return undefined
  const names: readonly string[] = rest.map((step) => step.value)
  return (states) => {
    let value: unknown = states
    for (const name of names) {
      if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined
      value = value[name]
    }
    return value as Json | undefined
  }
}

function plainObject(node: Node): Plain | undefined {
  // Pairs, though jsonata's types say a list of nodes.
  const pairs = (node.lhs ?? []) as unknown as readonly (readonly [Node, Node])[]
  if (!onlyKeys(node, ['type', 'value', 'lhs', 'position'])) return undefined
  const members = pairs.map(([key, value]) => [key.type === 'string' ? key.value : '', plainExpression(value)] as const)
  const names = new Set(members.map(([key]) => key))
  if (names.size !== members.length || names.has('') || names.has('__proto__')) return undefined
  return (states) => {
    const built: Record<string, Json> = {}
    for (const [key, evaluate] of members) {
      const value = evaluate?.(states)
      if (value === undefined) return undefined
      built[key] = value
    }
    return built
  }
}

function plainEquals(node: Node): Plain | undefined {
  if (!onlyKeys(node, ['type', 'value', 'lhs', 'rhs', 'position']) || Array.isArray(node.lhs)) return undefined
  const left = node.lhs && plainExpression(node.lhs)
  const right = node.rhs && plainExpression(node.rhs)
  if (left === undefined || right === undefined) return undefined
  return (states) => {
    const a = left(states)
    const b = right(states)
    return isScalar(a) && isScalar(b) ? a === b : undefined
  }
}

function isPlainStep(step: Node | undefined): boolean {
  return step !== undefined && onlyKeys(step, ['type', 'value', 'position'])
}

/** Predicates, sorting, grouping and the like are further members of a node. */
function onlyKeys(node: Node, keys: readonly string[]): boolean {
  return Object.keys(node).every((key) => keys.includes(key))
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isScalar(value: Json | undefined): boolean {
  return value !== undefined && (value === null || typeof value !== 'object')
}
