import type { ConfiguredGate } from '../../../shared/document/task-gates.ts'
import { COMPOSITIONS } from '../../../shared/gates/check-composition.ts'
import {
  COMPOSITION_NAMES,
  describeGates,
  explainCompositions,
  explainGate,
  type GateDescription,
} from '../../../shared/gates/explain.ts'
import { suggest } from '../../../shared/text/wording.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { readConfiguredGates } from './settings-file.ts'

export interface ListOptions {
  readonly json?: true
  readonly configured?: true
}

/** `sluice gates list` */
export function listGates(session: Session, { json, configured: only }: ListOptions): void {
  if (json === true) session.say(jsonText(only === true ? readConfiguredGates() : describeGates(), 2))
  else for (const line of [...(only === true ? [] : typeLines()), ...configuredLines(only === true)]) session.say(line)
}

function typeLines(): readonly string[] {
  const types = describeGates().map(({ type, params, summary }) => `${type}  ${parameterNames(params)}\n    ${summary}`)
  return [...types, '\nAny check takes not: true; any_of, all_of and at_least compose checks:', ...compositionLines()]
}

function compositionLines(): readonly string[] {
  return Object.values(COMPOSITIONS).map(
    ({ all, words }) => `${all.map((name) => (name === 'not' ? 'not?' : name)).join(' ')}\n    ${words}`,
  )
}

function configuredLines(only: boolean): readonly string[] {
  const lines = readConfiguredGates().map(gateWords)
  return only || lines.length === 0 ? lines : ['\nConfigured in sluice.yaml, before the moves of tasks:', ...lines]
}

function gateWords({ name, on, check, error, pipelines }: ConfiguredGate): string {
  const { type, ...params } = check
  const uses = pipelines.length === 0 ? 'no pipeline' : pipelines.join(', ')
  const move = `${on.from ?? 'any'} -> ${on.to ?? 'any'}`
  return plainText(
    `${name}  ${move}  (${uses})\n    ${typeof type === 'string' ? `${type} ` : ''}${JSON.stringify(params)}: ${error}`,
  )
}

/** `sluice gates explain TYPE` */
export function explainType(session: Session, type: string): void {
  const known = describeGates()
  const found = known.find((gate) => gate.type === type)
  if (found !== undefined) {
    session.say(explainGate(found))
    return
  }
  if (COMPOSITION_NAMES.includes(type)) {
    session.say(explainCompositions())
    return
  }
  const types = [...known.map((gate) => gate.type), ...COMPOSITION_NAMES]
  const near = suggest(type, types)
  const hint = near === undefined ? `Known types: ${types.join(', ')}.` : `Did you mean "${near}"?`
  throw usageError(`There is no gate type ${JSON.stringify(type)}. ${hint}`)
}

/** Names as a document writes them; a question mark where one may be left out. */
function parameterNames({ properties, required }: Readonly<Record<string, unknown>>): string {
  const needed = new Set(Array.isArray(required) ? required : [])
  const names = Object.keys((properties ?? {}) as object)
  return names.map((name) => (needed.has(name) ? name : `${name}?`)).join(' ')
}

export interface NewGateOptions {
  readonly type: string
  readonly port?: string
  readonly json?: true
}

/** `sluice new gate NAME`: a gate that holds for one of its type's examples. */
export function printNewGate(session: Session, name: string, { type, port, json }: NewGateOptions): void {
  const found = findType(type)
  const example = found.examples.find(({ passes }) => passes) ?? found.examples[0]
  const { properties = {} } = found.params as { readonly properties?: object }
  const named = port !== undefined && 'port' in properties ? { port } : {}
  const check = { type, ...example?.check, ...named }
  const gate = { name, check, error: `${name} does not hold`, on_fail: 'retry' }
  if (json === true) {
    session.say(jsonText({ gate, type }, 2))
    return
  }
  const lines = [
    `# ${found.summary}`,
    '# Change the values of the check; on_fail: retry, fail, warn, route or ask.',
    `- name: ${jsonText(name)}`,
    `  check: ${jsonText(check)}`,
    `  error: ${jsonText(gate.error)}`,
    '  on_fail: retry',
    `# ${session.settings.command} gates explain ${type} has every parameter and more examples.`,
  ]
  for (const line of lines) session.say(line)
}

function findType(type: string): GateDescription {
  const known = describeGates()
  const found = known.find((gate) => gate.type === type)
  if (found !== undefined) return found
  const types = known.map((gate) => gate.type)
  const near = suggest(type, types)
  throw usageError(
    `There is no gate type "${type}". ${near === undefined ? '`sluice gates list` has all.' : `Did you mean "${near}"?`}`,
  )
}
