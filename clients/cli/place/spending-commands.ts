import type { Command } from 'commander'
import { type ShownSpendingCap, SPENDING_ROUTES } from '../../../shared/api/spending-routes.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import { spendingWords } from '../../../shared/views/spending.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { type TargetOptions, withTargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'

/** `sluice spending ..`: what calls of models may use in a day or a month, and what is left. */
export function addSpending(parent: Command, session: Session): void {
  const spending = parent
    .command('spending')
    .description('what calls of models may use in a day or a month, and what is left')
  withTargetOptions(
    spending.command('list').description('the caps of spending: what is used, what is left, and when each opens again'),
  ).action((options: TargetOptions) => listCaps(session, options))
  withTargetOptions(
    spending
      .command('raise')
      .description('let a cap allow more until its day or month ends; recorded with who and why'),
  )
    .argument('<cap>', 'its name, as `spending list` shows it')
    .option('--usd <dollars>', 'so many dollars more')
    .option('--tokens <n>', 'so many tokens more')
    .requiredOption('--reason <text>', 'recorded with it')
    .action((cap: string, options: RaiseOptions) => raiseCap(session, cap, options))
}

async function listCaps(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), ListSchema, (api) => api.GET('/api/spending'))
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.caps.length === 0) session.say('No caps: spending in sluice.yaml names none.')
  for (const cap of answer.caps) for (const line of capLines(cap)) session.say(plainText(line))
}

interface RaiseOptions extends TargetOptions {
  readonly usd?: string
  readonly tokens?: string
  readonly reason: string
}

async function raiseCap(session: Session, cap: string, { url, json, reason, ...more }: RaiseOptions): Promise<void> {
  const usd = amount('--usd', more.usd)
  const tokens = amount('--tokens', more.tokens)
  if (usd === undefined && tokens === undefined)
    throw usageError('Say how much more: --usd, --tokens, or both, in the units the cap has.')
  const body = { cap, reason, ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) }
  const answer = await callApi(chooseTarget(session, url), RaisedSchema, (api) =>
    api.POST('/api/spending/raise', { body }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  for (const line of capLines(answer.cap)) session.say(plainText(line))
}

function amount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw usageError(`${option} takes a number above zero, not "${text}".`)
}

/** A newer server may say more. */
const ListSchema = SPENDING_ROUTES['get-spending'].answer.loose()
const RaisedSchema = SPENDING_ROUTES['raise-spending'].answer.loose()

/** `daily  $3.20 of $50.00 a day  until 2026-11-28T00:00:00.000Z`, and a line a raise. */
function capLines({ name, per, opens_at, reached, usd, tokens, raises, ...of }: ShownSpendingCap): readonly string[] {
  const whose = [
    ...(of.tenant === undefined ? [] : [`tenant ${of.tenant}`]),
    ...(of.dag === undefined ? [] : [`document ${of.dag}`]),
    ...(of.labels === undefined ? [] : [`labels ${labelWords(of.labels)}`]),
  ]
  const counted = spendingWords({ usd, tokens }) ?? 'counts all tenants together'
  const state = reached ? `reached, opens again ${opens_at}` : `until ${opens_at}`
  const line = [name, `${counted} a ${per}`, ...whose, state].join('  ')
  return [
    line,
    ...raises.map((raise) => {
      const by = [
        ...(raise.usd === undefined ? [] : [`$${raise.usd.toFixed(2)}`]),
        ...(raise.tokens === undefined ? [] : [`${raise.tokens.toLocaleString('en-US')} tokens`]),
      ]
      return `  raised by ${by.join(' and ')}, ${raise.by}, ${raise.at}: ${raise.reason}`
    }),
  ]
}
