import type { GateUse, PortType } from '../dag/dag.ts'
import { COMPOSITIONS, findComposition, paramsOfCheck, partsOfCheck } from '../gates/check-composition.ts'
import type { Gate, Held } from '../gates/gate.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Path } from '../text/source-position.ts'
import type { BlockDraft } from './block.ts'
import type { InputTypes } from './port-types.ts'
import type { LocatedGate, Reading } from './sections.ts'

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
