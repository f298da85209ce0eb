import { RECORD_RUN } from '../../shared/api/verify-routes.ts'
import { Fault } from '../../shared/errors.ts'
import {
  RawAnswersSchema,
  type RecordedCall,
  type RecordedCallWithPrompt,
  type Recording,
} from '../../shared/providers/recording.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isStageEvent } from '../../shared/runs/event-types.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { redactSecrets } from '../../shared/text/redact.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { allEvents } from '../record/run-log.ts'
import { requireRun } from '../require-run.ts'
import { readChain } from '../research/stored-chain.ts'

/** Makes the recording of an ended run and keeps it as an object; the run itself is not touched. */
export const handler = httpHandler({
  name: 'record-run',
  schema: RECORD_RUN,
  run: async (call, world) => {
    const { run, head } = await requireRun(world, call)
    const meta = await world.runs.meta(run)
    if (head.state === 'running' || meta === undefined) throw notEnded(run)
    const recording = await recordingOf(world, meta)
    const body = Buffer.from(canonicalJson(recording))
    const { ref } = await world.objects.put(run.tenant, body)
    const { byteLength: bytes } = body
    const whole = bytes <= MAX_INLINE_BYTES ? { recording } : {}
    return { json: { ref, bytes, calls: recording.calls.length, ...whole } }
  },
})

/** An answer of a function is at most 6 MB. */
const MAX_INLINE_BYTES = 4 * 1_024 * 1_024

/** In the order of the events, so that one run has one recording. */
export async function recordingOf(world: Pick<World, 'runs' | 'objects' | 'clock'>, meta: Meta): Promise<Recording> {
  const { tenant, run_id, dag_name, dag_hash } = meta
  const calls: RecordedCall[] = []
  const events = await allEvents(world, meta)
  for (const ref of [...events.flatMap(rawRefOf), ...(await stageRefs(world, tenant, events))]) {
    const kept = RawAnswersSchema.parse(JSON.parse(Buffer.from(await world.objects.get(tenant, ref)).toString()))
    calls.push(...kept.calls.map(recorded))
  }
  return { v: 1, run_id, dag_name, dag_hash, calls }
}

/**
 * A call as a file carries it that is shared and committed: questions by their hashes, and an answer without what looks
 * like a secret.
 */
function recorded({ asked: _, answer, ...call }: RecordedCallWithPrompt): RecordedCall {
  const { text, model, finish_reason, note, calls } = answer
  const said = { text: redactSecrets(text), model: redactSecrets(model), finish_reason: redactSecrets(finish_reason) }
  const wanted = calls?.map((one) => ({ ...one, arguments: redactSecrets(one.arguments) }))
  return {
    ...call,
    answer: {
      ...answer,
      ...said,
      ...(note === undefined ? {} : { note: redactSecrets(note) }),
      ...(wanted === undefined ? {} : { calls: wanted }),
    },
  }
}

function rawRefOf(event: RunEvent): readonly string[] {
  if (event.type !== 'block:output' && event.type !== 'block:gate') return []
  return event.data.raw_ref === undefined ? [] : [event.data.raw_ref]
}

/** The stages of a research run keep theirs in the state of its chain; the last one has the rows of all. */
async function stageRefs(
  world: Pick<World, 'objects'>,
  tenant: string,
  events: readonly RunEvent[],
): Promise<readonly string[]> {
  const last = events.findLast(isStageEvent)
  if (last === undefined) return []
  return (await readChain(world, tenant, last.data.ref)).stages.flatMap(({ raw_ref }) => raw_ref ?? [])
}

function notEnded({ run_id }: RunKey): Fault {
  const message = `Cannot record run "${run_id}": it still goes on. Wait for its end, or stop it.`
  return new Fault('Conflict', 'run_not_ended', message)
}
