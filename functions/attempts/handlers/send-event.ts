import { renderTemplate } from '../../../shared/dag/template.ts'
import { EVENT_KEY_RULE, isEventKey } from '../../../shared/runs/outside-event.ts'
import type { Json } from '../../../shared/text/json.ts'
import { makeEvent } from '../../runs/make-event.ts'
import { sendEvent as sendToWaits } from '../../runs/waits.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, readConfig } from './block-handler.ts'

/** Waits beyond these are left to the sweep: the block has something else to do. */
const LOOK_MS = 60_000

/**
 * Sends an event of outside, as POST /api/events does: what `payload_expression` makes, else the inputs by name. Once a
 * pass of the block, however often it is tried: its id is made of the run, the block and the pass. Outputs `id` and `woken`.
 */
export const sendEvent: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const { name, expires_in, payload_expression } = readConfig('send-event', call)
    const { world, run } = call
    const sent = {
      tenant: run.tenant,
      by: `run:${run.run_id}`,
      id: idOf(call),
      name,
      key: keyOf(call),
      payload: payload_expression === undefined ? call.inputs : await payloadOf(call, payload_expression),
      expires_in,
    }
    const event = await makeEvent(world, sent)
    const { woken } = await sendToWaits(world, event, world.clock.now() + LOOK_MS)
    return { id: event.id, woken }
  },
}

function idOf({ run, block_id, item, epoch }: HandlerCall): string {
  return `${run.run_id}/${block_id}${item === undefined ? '' : `.${item}`}/${epoch}`
}

function keyOf(call: HandlerCall): string | undefined {
  const { key } = readConfig('send-event', call)
  if (key === undefined) return undefined
  const rendered = renderTemplate(key, call.values)
  if (rendered.ok && isEventKey(rendered.text)) return rendered.text
  const seen = rendered.ok
    ? 'its key is none'
    : `its key cannot be written: ${rendered.missing.join(', ')} has no value`
  throw handlerFault(call, 'send-event', 'bad_event', `${seen}; a key is ${EVENT_KEY_RULE}.`)
}

async function payloadOf(call: HandlerCall, program: string): Promise<Json> {
  const answer = await isolateOf(call).run('transform', { program, input: { inputs: call.values } })
  call.signal.throwIfAborted()
  if (answer.ok) return answer.value
  const what = `its payload_expression stopped (${answer.because}): ${answer.message}. Mend it (JSONata 2.0 over {inputs}).`
  throw handlerFault(call, 'send-event', 'bad_event', what)
}
