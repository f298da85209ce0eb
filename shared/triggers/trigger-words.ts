import { durationWords } from '../text/duration.ts'
import type { Trigger } from './trigger.ts'

/** What fires it, for people: `0 6 * * 1-5 in Europe/Berlin`. */
export function triggerWords(trigger: Trigger): string {
  const { debounce, rate } = trigger
  const joined = debounce === undefined ? [] : [`after ${durationWords(debounce.for_sec)} without another`]
  const most = rate === undefined ? [] : [`at most ${rate.limit} in ${durationWords(rate.per_sec)}`]
  return [firedBy(trigger), ...joined, ...most].join(', ')
}

function firedBy(trigger: Trigger): string {
  if (trigger.kind === 'schedule') {
    const { cron, timezone, overlap, catch_up } = trigger.schedule
    const more = [
      ...(overlap === 'skip' ? [] : [`overlap: ${overlap}`]),
      ...(catch_up === 'none' ? [] : [`catch_up: ${catch_up}`]),
    ]
    return [`${cron} in ${timezone}`, ...more].join(', ')
  }
  if (trigger.kind === 'event') {
    const { name, match } = trigger.event
    return match === undefined ? `event ${name}` : `event ${name} where ${match}`
  }
  if (trigger.kind === 'run') return `the end of runs of ${trigger.run.dag} (${trigger.run.ends.join(', ')})`
  if (trigger.kind === 'object') {
    const { prefix, suffix } = trigger.object
    return `objects ${prefix}*${suffix}`
  }
  const { header, secret } = trigger.webhook.verify.hmac
  return `messages signed in ${header} by ${secret}`
}
