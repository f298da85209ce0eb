import type { GateUse, PortType } from '../dag/dag.ts'
import { HANDLER_PORTS, type HandlerPorts, writtenFormat } from '../dag/handlers.ts'
import { requestProblem } from '../dag/service-request.ts'
import { COMPOSITIONS, findComposition, paramsOfCheck, partsOfCheck } from '../gates/check-composition.ts'
import type { Gate, Held } from '../gates/gate.ts'
import { findService, keyHeader } from '../services/settings.ts'
import { SEPARATORS, separatorSign } from '../table/delimited-text.ts'
import type { TableFormat } from '../table/read-rows.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Path } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import type { PortDraft } from './ports.ts'
import type { LocatedGate, Mapping, Reading } from './sections.ts'
import type { InputTypes } from './wires.ts'

/** What a handler demands beyond the schema of its config: the types of its ports, and keys that go together. */
export function checkHandler(reading: Reading, block: BlockDraft, types: InputTypes): void {
  const { work } = block
  if (work?.mode !== 'deterministic') return
  const demands = Object.hasOwn(HANDLER_PORTS, work.handler) ? HANDLER_PORTS[work.handler] : undefined
  if (demands !== undefined) {
    checkOutputs(reading, block, work.handler, demands.outputs)
    for (const [name, allowed] of Object.entries(demands.inputs ?? {})) {
      checkInput(reading, block, types, { handler: work.handler, name, allowed })
    }
  }
  const path = [...block.path, 'deterministic', 'config']
  checkTableConfig(reading, work, path)
  checkStepInputs(reading, block, work.handler)
  if (work.handler === 'http') checkRequest(reading, work.config, path)
}

/** What a step cannot do without: declared by the block, or the item of its fan-out. */
function checkStepInputs({ problems, steps = {} }: Reading, block: BlockDraft, handler: string): void {
  const step = Object.hasOwn(steps, handler) ? steps[handler] : undefined
  if (step === undefined || 'problem' in step || step.inputs === undefined) return
  const given = new Set([...block.inputs.keys(), block.settled.foreach?.as])
  for (const [name, { type }] of Object.entries(step.inputs).filter(
    ([name, { required }]) => required && !given.has(name),
  )) {
    const text = `has no input ${quoted(name)}, which its step ${quoted(handler)} needs`
    const hint = `Add it under inputs: ${name}: { from: BLOCK.OUTPUT } (${type}).`
    problems.push({ code: 'missing_input', path: block.path, say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
  }
}

/** Keys that go together; and the service of the place, where that is known: its name, and that its key's header is its own. */
function checkRequest(reading: Reading, config: Mapping, path: Path): void {
  const [key, why] = requestProblem(config) ?? []
  if (key !== undefined) refuse(reading, [...path, key], why ?? '')
  const { services } = reading
  const { service: name, headers } = config
  if (services === undefined || typeof name !== 'string') return
  const service = findService(services, name)
  if (service === undefined) refuseService(reading, name, Object.keys(services), [...path, 'service'])
  const taken = service === undefined ? undefined : keyHeader(service)
  for (const header of Object.keys(headers ?? {}).filter((header) => header.toLowerCase() === taken)) {
    const why = `holds the key of the service ${quoted(name)}, and is not for documents. Remove it`
    refuse(reading, [...path, 'headers', header], why)
  }
}

function refuseService({ problems }: Reading, name: string, known: readonly string[], path: Path): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} asks service ${quoted(name)}, which is not configured; configured are ${listed(known)}`,
    hint: didYouMean(suggest(name, known)) ?? 'Add it under services in sluice.yaml.',
  })
  problems.push({ code: 'unknown_service', path, say })
}

function checkOutputs(reading: Reading, block: BlockDraft, handler: string, demands: HandlerPorts['outputs']) {
  const { outputs } = block
  const { types, one, may_be_none = false, beside = {} } = demands
  // The only output is the main one, whatever its name, where there must be one.
  const besides = may_be_none || outputs.size > 1 ? beside : {}
  const names = [...outputs.keys()].filter((name) => !Object.hasOwn(besides, name))
  const allowed = `the handler "${handler}" fills ${outputsAllowed(demands)}`
  if (outputs.size === 0 && !may_be_none) refusePorts(reading, block.path, `has no output; ${allowed}`)
  else if (one === true && names.length > 1) {
    refusePorts(reading, [...block.path, 'outputs'], `has the outputs ${listed(outputs.keys())}; ${allowed}`)
  }
  for (const [name, port] of outputs) {
    checkOutputType(reading, handler, port, Object.hasOwn(besides, name) ? (besides[name] ?? types) : types)
  }
}

function checkOutputType(reading: Reading, handler: string, { type, path }: PortDraft, types: readonly PortType[]) {
  if (type === undefined || types.includes(type)) return
  refuseType(reading, path, `is a ${type}; the handler "${handler}" fills ${words(types)}`)
}

function outputsAllowed({ types, one, may_be_none, beside }: HandlerPorts['outputs']): string {
  const least = may_be_none === true ? 'one at the most' : one === true ? 'exactly one' : 'at least one'
  const besides = beside === undefined ? '' : `, beside ${listed(Object.keys(beside))}`
  return `${least}, of type ${words(types)}${besides}`
}

function refusePorts({ problems }: Reading, path: Path, text: string): void {
  problems.push({ code: 'handler_ports', path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}` }) })
}

function refuseType({ problems }: Reading, path: Path, text: string): void {
  problems.push({ code: 'type_mismatch', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
}

function checkInput(
  reading: Reading,
  { inputs }: BlockDraft,
  types: InputTypes,
  {
    handler,
    name,
    allowed,
  }: { readonly handler: string; readonly name: string; readonly allowed: readonly PortType[] },
): void {
  const port = inputs.get(name)
  const type = port === undefined ? undefined : types.get(port)
  if (port === undefined || type === undefined || allowed.includes(type)) return
  refuseType(reading, port.path, `is a ${type}; the handler "${handler}" takes ${words(allowed)} there`)
}

function words(types: readonly PortType[]): string {
  return types.length === 1 ? String(types[0]) : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
}

/** Keys of a table that say nothing about its format, or nothing by themselves. */
function checkTableConfig(
  reading: Reading,
  { handler, config }: { readonly handler: string; readonly config: Mapping },
  path: Path,
): void {
  if (handler !== 'read-table' && handler !== 'write-table') return
  const format = handler === 'write-table' ? writtenFormat(config) : config.format
  const isJson = format === 'json' || format === 'ndjson'
  for (const key of OF_DELIMITED.filter((key) => isJson && config[key] !== undefined)) {
    refuse(reading, [...path, key], `does not go with the format ${String(format)}: it is of csv and tsv. Remove it`)
  }
  const separator = separatorSign(String(config.separator ?? ''))
  if (format === ('tsv' satisfies TableFormat) && separator !== undefined && separator !== SEPARATORS.tab) {
    refuse(
      reading,
      [...path, 'separator'],
      'does not go with the format tsv, whose separator is a tab. Say format: csv',
    )
  }
  if (config.strict === true && config.columns === undefined) {
    refuse(reading, [...path, 'strict'], 'allows the columns of "columns" only, but there are none. Add "columns"')
  }
}

const OF_DELIMITED = ['separator', 'line_end', 'bom', 'formulas'] as const

function refuse({ problems }: Reading, path: Path, why: string): void {
  const key = quoted(String(path.at(-1)))
  problems.push({ code: 'invalid_value', path, on: 'key', say: ({ who }) => ({ text: `${who}: ${key} ${why}` }) })
}

/**
 * Gates on ports whose type they can never pass: a check of text on a number, `type_is` of another type than the port's,
 * two ports that are to be equal and are of types whose values never are. Told before the run, since there every attempt would fail and be paid for. Of json nobody knows what it will hold.
 */
export function checkGatePorts(reading: Reading, blocks: readonly BlockDraft[], types: InputTypes): void {
  const byIndex = new Map(blocks.map((block) => [block.index, block]))
  for (const placed of reading.gate_uses) {
    const block = byIndex.get(Number(placed.path[1]))
    if (block === undefined) continue
    const typeOf = (port: string) => typeSeen(block, types, placed.phase, port)
    for (const leaf of leavesAt(placed.use.check, placed.path)) {
      checkLeaf(reading, placed, leaf, typeOf)
      checkCompared(reading, placed, leaf, typeOf)
    }
  }
}

/** The type a gate of that phase sees; undefined: it may be anything. Outputs go before inputs of the same name. */
function typeSeen(
  { inputs, outputs, settled }: BlockDraft,
  types: InputTypes,
  phase: LocatedGate['phase'],
  port: string,
): PortType | undefined {
  const output = phase === 'pre' ? undefined : outputs.get(port)
  // After a fan-out each output is the list of what its items made.
  if (output !== undefined) return phase === 'post' && settled.foreach !== undefined ? 'json' : output.type
  const input = inputs.get(port)
  return input === undefined ? undefined : types.get(input)
}

type Check = GateUse['check']

interface Leaf {
  readonly check: Check
  readonly path: Path
  /** Whether it is turned round, by itself or by what it is composed into. */
  readonly negated: boolean
}

function leavesAt(check: Check, path: Path, turned = false): readonly Leaf[] {
  const negated = turned !== (check.not === true)
  const composition = findComposition(check.type)
  if (composition === undefined) return [{ check, path, negated }]
  const { list } = COMPOSITIONS[composition]
  return (partsOfCheck(check)?.parts ?? []).flatMap((part, at) => leavesAt(part, [...path, list, at], negated))
}

function checkLeaf(
  { problems, gates }: Reading,
  { phase, use }: LocatedGate,
  { check, path, negated }: Leaf,
  typeOf: (port: string) => PortType | undefined,
): void {
  const gate = gates.gateOf(check.type)
  if (gate === undefined) return
  const params = paramsOfCheck(check)
  for (const port of new Set(gate.reads(params))) {
    const type = typeOf(port)
    const held = type === undefined ? undefined : HELD[type]
    const fitting = held === undefined ? undefined : unfitting(gate, params, { port, held, negated })
    if (type === undefined || held === undefined || fitting === undefined) continue
    const key = Object.keys(params).find((name) => params[name] === port)
    const allowed = ALLOWED.filter(([kind]) => kind === 'json' || fitting.includes(kind)).flatMap(([, names]) => names)
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has ${phase === 'item' ? 'an' : 'a'} ${phase}-gate "${use.name}" of type ${check.type} that can never pass: port "${port}" is of type ${type}, and with these parameters it needs ${allowed.join(', ')}`,
      hint: HINTS[held],
    })
    problems.push({ code: 'gate_never_passes', path: key === undefined ? path : [...path, key], say })
  }
}

/** Values of two ports are never equal where one holds a text, say, and the other a number. */
function checkCompared(
  { problems, gates }: Reading,
  { phase, use }: LocatedGate,
  { check, path, negated }: Leaf,
  typeOf: (port: string) => PortType | undefined,
): void {
  const params = paramsOfCheck(check)
  const compared = gates.gateOf(check.type)?.compares?.(params)
  if (compared === undefined || (compared.passes === 'equal') === negated) return
  const [left, right] = compared.ports
  const [one, other] = [typeOf(left), typeOf(right)]
  if (one === undefined || other === undefined) return
  if (HELD[one] === undefined || HELD[other] === undefined || HELD[one] === HELD[other]) return
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has ${phase === 'item' ? 'an' : 'a'} ${phase}-gate "${use.name}" of type ${check.type} that can never pass: port "${left}" is of type ${one} and port "${right}" of type ${other}, and values of these types are never equal`,
    hint: `Declare both of one type, or one of them json; or ${negated ? 'take its negation away' : 'set mode: not_equal'}.`,
  })
  const key = Object.keys(params).findLast((name) => params[name] === right)
  problems.push({ code: 'gate_never_passes', path: key === undefined ? path : [...path, key], say })
}

/** What the port would have to hold; undefined: it fits. */
function unfitting(
  gate: Gate<unknown>,
  params: ReturnType<typeof paramsOfCheck>,
  { port, held, negated }: { readonly port: string; readonly held: Held; readonly negated: boolean },
): readonly Held[] | undefined {
  const judged = gate.judges?.(params, port)
  if (judged !== undefined && !judged.includes(held)) return judged
  const passing = negated ? undefined : gate.passesOn?.(params)
  return passing === undefined || passing.includes(held) ? undefined : passing
}

const HELD: Readonly<Record<PortType, Held | undefined>> = {
  string: 'text',
  file: 'text',
  artifact: 'text',
  number: 'number',
  boolean: 'boolean',
  json: undefined,
}

const ALLOWED: readonly (readonly [Held | 'json', readonly PortType[]])[] = [
  ['text', ['string', 'file', 'artifact']],
  ['number', ['number']],
  ['boolean', ['boolean']],
  ['json', ['json']],
]

const HINTS: Readonly<Record<Held, string>> = {
  text: 'Change the type of the port, or use a gate of text: contains, matches, equals.',
  number: 'Change the type of the port, or use a gate of numbers: max_value, range, equals, port_matches.',
  boolean: 'Change the type of the port, or use equals, expr or port_matches.',
}
