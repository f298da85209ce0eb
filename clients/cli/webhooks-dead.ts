import type { Command } from 'commander'
import { chooseTarget } from './api.ts'
import { commandLine } from './command-line.ts'
import { type DeadPage, fetchDeadWebhooks } from './fetch-dead-webhooks.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface DeadOptions extends TargetOptions {
  readonly endpoint?: string
  readonly delivered?: true
  readonly limit?: number
  readonly cursor?: string
}

export function addWebhooksDead(parent: Command, session: Session): void {
  withTarget(parent.command('dead').description('messages that were given up, latest event first'))
    .option('--endpoint <name>', 'of one endpoint')
    .option('--delivered', 'also those a replay has delivered')
    .option('--limit <n>', 'at most this many, 1 to 100 (default: 20)', wholeNumber(1, 100))
    .option('--cursor <cursor>', 'continue a list: the cursor its last line names')
    .action((options: DeadOptions) => list(session, options))
}

async function list(session: Session, options: DeadOptions): Promise<void> {
  const { url, json, endpoint, delivered, limit, cursor } = options
  const target = chooseTarget(session, url)
  const page = await fetchDeadWebhooks(target, {
    ...(endpoint !== undefined && { endpoint }),
    ...(delivered !== undefined && { delivered: 'true' as const }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
  })
  if (json === true) return session.say(jsonText(page, 2))
  if (page.dead.length === 0 && page.next_cursor === null) session.say('Every message was taken.')
  for (const one of page.dead) session.say(plainText(deadLine(one)))
  if (page.next_cursor === null) return
  const same = [
    ...(endpoint === undefined ? [] : [`--endpoint ${endpoint}`]),
    ...(delivered === undefined ? [] : ['--delivered']),
    ...(limit === undefined ? [] : [`--limit ${limit}`]),
  ]
  const words = ['webhooks dead', ...same, `--cursor ${page.next_cursor}`].join(' ')
  session.say(`More: ${commandLine(session, target, words)}`)
}

function deadLine({ id, type, tries, last, delivered_at }: DeadPage['dead'][number]): string {
  const became = delivered_at === undefined ? `${tries} tries, at last ${last.reason}` : `delivered ${delivered_at}`
  return `${id}  ${type}  ${became}`
}
