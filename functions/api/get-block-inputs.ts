import type { BlockAttempt } from '../../shared/api/get-block.ts'
import { canonicalJson, type Json, sha256 } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { approvalEpoch } from '../../shared/runs/approval-epoch.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { passesOf } from '../../shared/runs/invariants/passes.ts'
import { type RecordedParts, recordedInputs } from '../../shared/runs/invariants/recorded-inputs.ts'
import type { StepFold } from '../../shared/runs/run-fold.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'

/** What the inputs of attempts are told from. */
export interface InputSources extends RecordedParts {
  readonly approvals: readonly ApprovalItem[]
}

/** Characters that one answer still has room for. */
export interface Room {
  left: number
}

type Values = Readonly<Record<string, Json>>
type Shown = Pick<BlockAttempt, 'inputs' | 'input_refs' | 'inputs_verified'>

/** Values above this are told by hash and size. */
const MAX_VALUE_BYTES = 65_536

/** The values that have the hash the attempt began with; else those it would be given now, and it is said. */
export async function attemptInputs(
  parts: InputSources,
  block: Block,
  step: StepFold,
  own: readonly RunEvent[],
  room: Room,
): Promise<Shown> {
  const started = own.find(({ type }) => type === 'block:started')
  if (started?.type !== 'block:started') return { inputs_verified: false }
  let now: Values | undefined
  for (const candidate of [() => resolvedAgain(parts, block, step, started), ...keptInputs(parts, step, own)]) {
    const values = await candidate()
    if (values === undefined) continue
    if (sha256(canonicalJson(values)) === started.data.inputs_hash) {
      return { ...shown(values, parts.events, room), inputs_verified: true }
    }
    now ??= values
  }
  return { ...(now === undefined ? {} : shown(now, parts.events, room)), inputs_verified: false }
}

async function resolvedAgain(parts: InputSources, block: Block, step: StepFold, started: RunEvent) {
  const pass = passesOf(parts.events).find(({ block_id, item, epoch }) => {
    return block_id === block.id && item === step.item && epoch === step.epoch
  })
  return pass === undefined ? undefined : recordedInputs(parts, pass, block, started)
}

/** A context that is patched moves nothing a person was asked about: what they were shown is kept with the question. */
function keptInputs(
  { approvals, read, events }: InputSources,
  { block_id, epoch }: StepFold,
  own: readonly RunEvent[],
): readonly (() => Promise<Values | undefined>)[] {
  const asked = own.flatMap((event) => (event.type === 'block:asked' ? (event.data.inputs_ref ?? []) : []))
  const before = approvals.flatMap(({ id, block_id: of, inputs_ref }) => {
    return of === block_id && approvalEpoch(id) === epoch && inputs_ref !== undefined ? [{ id, inputs_ref }] : []
  })
  return [
    ...asked.map((ref) => async () => (await readObject(read, ref))?.values as Values | undefined),
    ...before.map(({ id, inputs_ref }) => async () => {
      const values = (await readObject(read, inputs_ref))?.values as Values | undefined
      const edits = await editsOf(read, events, id)
      return values === undefined || edits === undefined ? undefined : { ...values, ...edits }
    }),
  ]
}

async function editsOf(read: InputSources['read'], events: readonly RunEvent[], id: string) {
  const decided = events.findLast((event) => event.type === 'approval:decided' && event.data.approval_id === id)
  const ref = decided?.type === 'approval:decided' ? decided.data.edits_ref : undefined
  return ref === undefined ? {} : ((await readObject(read, ref)) as Values | undefined)
}

async function readObject(read: InputSources['read'], ref: string): Promise<Record<string, unknown> | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
}

function shown(values: Values, events: readonly RunEvent[], room: Room): Pick<Shown, 'inputs' | 'input_refs'> {
  const inputs: Record<string, Json> = {}
  const refs: NonNullable<Shown['input_refs']> = {}
  for (const [port, value] of Object.entries(values)) {
    const text = canonicalJson(value)
    const bytes = Buffer.byteLength(text)
    if (bytes <= MAX_VALUE_BYTES && text.length <= room.left) {
      inputs[port] = value
      room.left -= text.length
    } else {
      const hash = sha256(text)
      const ref = refOf(events, hash)
      refs[port] = { ...(ref === undefined ? {} : { ref }), sha256: hash, bytes }
    }
  }
  return { inputs, ...(Object.keys(refs).length === 0 ? {} : { input_refs: refs }) }
}

/** Where a block of the run stored exactly this value. */
function refOf(events: readonly RunEvent[], hash: string): string | undefined {
  for (const event of events) {
    if (event.type !== 'block:output') continue
    const same = Object.values(event.data.outputs).find((stored) => stored.sha256 === hash)
    if (same !== undefined) return same.ref
  }
  return undefined
}
