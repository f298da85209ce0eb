import type { Command } from 'commander'
import { EVENT_ROUTES } from '../../../shared/api/event-routes.ts'
import type { Json } from '../../../shared/text/json.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

/** `event`: what happened outside, for blocks that wait for it. */
export function addEvent(parent: Command, session: Session): void {
  const event = parent.command('event').description('say that something happened, to blocks that wait for it')
  withTargetOptions(event.command('send').description('send an event; it is kept for waits that come later'))
    .argument('<name>', 'what happened, as order.paid')
    .option('--payload <json>', 'what it says, as JSON (default: {})')
    .option('--key <key>', 'what it is about: waits that name a key see only theirs')
    .option('--id <id>', 'the same id again is the same event (default: a new one)')
    .option('--expires-in <duration>', 'how long it is kept, as 90s, 2h or 30d (default: 7d)')
    .action((name: string, options: SendOptions) => sendEvent(session, name, options))
}

interface SendOptions extends TargetOptions {
  readonly payload?: string
  readonly key?: string
  readonly id?: string
  readonly expiresIn?: string
}

async function sendEvent(session: Session, name: string, options: SendOptions): Promise<void> {
  const { url, json, key, id, expiresIn } = options
  const target = chooseTarget(session, url)
  const body = {
    name,
    ...(options.payload !== undefined && { payload: readPayload(options.payload) }),
    ...(key !== undefined && { key }),
    ...(id !== undefined && { id }),
    ...(expiresIn !== undefined && { expires_in: expiresIn }),
  }
  const answer = await callApi(target, EVENT_ROUTES['send-event'].answer.loose(), (api) =>
    api.POST('/api/events', { body }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const { event, woken, all } = answer
  const more = all ? '' : '; others are looked at within five minutes'
  session.say(`Event ${oneLine(event.id)} is kept until ${event.expires_at}; it woke ${count(woken, 'wait')}${more}.`)
}

function readPayload(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const seen = cause instanceof Error ? cause.message : String(cause)
    throw usageError(`Cannot read --payload as JSON: ${seen}. Quote it for the shell: --payload '{"amount": 30}'.`)
  }
}
