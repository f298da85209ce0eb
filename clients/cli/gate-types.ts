import { suggest } from '../../shared/dag/suggest.ts'
import { COMPOSITIONS } from '../../shared/gates/compositions.ts'
import { describeGates } from '../../shared/gates/describe-gates.ts'
import { COMPOSITION_NAMES, explainCompositions } from '../../shared/gates/explain-compositions.ts'
import { explainGate } from '../../shared/gates/explain-gate.ts'
import type { ConfiguredGate } from '../../shared/tasks/configured-gates.ts'
import { readConfiguredGates } from './configured-gates.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'

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
  throw usage(`There is no gate type ${JSON.stringify(type)}. ${hint}`)
}

/** Names as a document writes them; a question mark where one may be left out. */
function parameterNames({ properties, required }: Readonly<Record<string, unknown>>): string {
  const needed = new Set(Array.isArray(required) ? required : [])
  const names = Object.keys((properties ?? {}) as object)
  return names.map((name) => (needed.has(name) ? name : `${name}?`)).join(' ')
}
