import type { BlockAttempt, BlockCallAnswer } from '../../shared/api/get-block.ts'
import { type KeptCall, RawAnswersSchema } from '../../shared/kept-call.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { InputSources, Room } from './get-block-inputs.ts'

/** Calls of one attempt in one answer. */
const MOST = 50
/** Characters of one text. */
const MOST_TEXT = 65_536

/** What the models of an attempt were asked and answered, its judges last, as it was recorded. */
export async function attemptCalls(
  read: InputSources['read'],
  own: readonly RunEvent[],
  room: Room,
): Promise<Pick<BlockAttempt, 'calls' | 'calls_cut'>> {
  const calls: BlockCallAnswer[] = []
  let calls_cut = false
  for (const { ref, gate } of own.flatMap(recordedBy)) {
    const kept = await keptCalls(read, ref)
    calls_cut ||= kept === undefined
    for (const call of kept ?? []) {
      calls_cut ||= calls.length >= MOST || room.left <= 0
      if (!calls_cut) calls.push(shownCall(call, gate, room))
    }
  }
  return { calls, calls_cut }
}

/** Undefined = the object is gone. */
async function keptCalls(read: InputSources['read'], ref: string): Promise<readonly KeptCall[] | undefined> {
  const body = await read(ref)
  return body === undefined ? undefined : RawAnswersSchema.parse(JSON.parse(Buffer.from(body).toString())).calls
}

function recordedBy(event: RunEvent): readonly { readonly ref: string; readonly gate?: string }[] {
  if (event.type !== 'block:output' && event.type !== 'block:gate') return []
  const { raw_ref: ref } = event.data
  if (ref === undefined) return []
  return [event.type === 'block:gate' ? { ref, gate: event.data.gate } : { ref }]
}

function shownCall(call: KeptCall, gate: string | undefined, room: Room): BlockCallAnswer {
  const { provider, prompt_hash, answer, asked } = call
  const texts = {
    ...(asked?.system === undefined ? {} : { system: asked.system }),
    ...promptOf(call),
    answer: answer.text,
  }
  let isCut = asked?.cut === true
  const fitting = Object.entries(texts).map(([name, text]) => {
    const fits = text.slice(0, Math.min(MOST_TEXT, room.left)).toWellFormed()
    room.left -= fits.length
    isCut ||= fits.length < text.length
    return [name, fits]
  })
  const { tokens_in, tokens_out, usd = null, model, finish_reason, note } = answer
  return {
    ...(gate === undefined ? {} : { gate }),
    provider,
    model,
    prompt_hash,
    ...(Object.fromEntries(fitting) as typeof texts),
    ...(isCut ? { cut: true } : {}),
    tokens_in,
    tokens_out,
    usd,
    finish_reason,
    ...(note === undefined ? {} : { note }),
  }
}

function promptOf({ asked }: KeptCall): { readonly prompt?: string } {
  return asked === undefined ? {} : { prompt: asked.prompt }
}
