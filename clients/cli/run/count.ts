import { type Command, type CommandOptions, Option } from 'commander'
import type * as z from 'zod'
import { SEARCH_ROUTES } from '../../../shared/api/search-routes.ts'
import { joinCounts, type RunCount } from '../../../shared/search-runs/count.ts'
import { COUNT_FIELDS } from '../../../shared/search-runs/count-fields.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { count as counted, usdWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { viewedQuery } from './views.ts'

interface CountOptions extends TargetOptions {
  readonly by: string
  readonly over?: 'day'
  readonly view?: string
}

/** `sluice run count`: how many runs a search finds, and what they cost. */
export function addCount(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('count', hidden).description('how many runs a search finds, and what they cost, by a field'),
  )
    .argument('[query...]', 'as sluice run search takes it; without any: every run')
    .requiredOption('--by <field>', `${COUNT_FIELDS.join(', ')} or label.KEY`)
    .addOption(new Option('--over <time>', 'each by the day the runs were started (UTC)').choices(['day']))
    .option('--view <name>', 'the search of this name; what is given besides has to hold too')
    .action((query: readonly string[], options: CountOptions) => countRuns(session, query.join(' '), options))
}

const AnswerSchema = SEARCH_ROUTES['count-runs'].answer.loose()
type Answer = z.infer<typeof AnswerSchema>

async function countRuns(session: Session, query: string, options: CountOptions): Promise<void> {
  const { url, json, by, over, view } = options
  const target = chooseTarget(session, url)
  const q = await viewedQuery(target, view, query)
  const { counts, counted: runs, damaged } = await countAll(target, { q, by, ...(over !== undefined && { over }) })
  if (json === true) {
    const shown = counts.map(({ usd_micros, value = null, ...one }) => ({ value, ...one, usd: usd_micros / 1_000_000 }))
    return session.say(jsonText({ counts: shown, counted: runs, damaged }, 2))
  }
  for (const one of counts) session.say(lineOf(one))
  session.say(`${counted(runs, 'run')} in all. Costs are as far as prices are known.${unreadWords(damaged)}`)
}

interface CountQuery {
  readonly q: string
  readonly by: string
  readonly over?: 'day'
}

interface Counted {
  readonly counts: readonly RunCount[]
  /** Runs that were counted, and those that could not be read. */
  readonly counted: number
  readonly damaged: number
}

/** Of all its pages. */
async function countAll(target: Target, query: CountQuery): Promise<Counted> {
  const parts: RunCount[] = []
  let runs = 0
  let damaged = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await readPage(target, { ...query, ...(cursor !== undefined && { cursor }) })
    for (const { value, day, runs: some, tokens, usd } of page.counts) {
      const named = { ...(value !== null && { value }), ...(day !== undefined && { day }) }
      parts.push({ ...named, runs: some, tokens, usd_micros: Math.round(usd * 1_000_000) })
    }
    runs += page.counted
    damaged += page.damaged
    cursor = page.next_cursor
  }
  return { counts: joinCounts(parts), counted: runs, damaged }
}

function readPage(target: Target, query: CountQuery & { readonly cursor?: string }): Promise<Answer> {
  return callApi(target, AnswerSchema, (api) => api.GET('/api/dag/count', { params: { query } }))
}

function lineOf({ value, day, runs, tokens, usd_micros }: RunCount): string {
  const cost = `${tokens} tokens, ${usdWords(usd_micros / 1_000_000)}`
  return oneLine(`${day === undefined ? '' : `${day}  `}${value ?? '(none)'}  ${counted(runs, 'run')}, ${cost}`)
}

function unreadWords(damaged: number): string {
  if (damaged === 0) return ''
  return ` ${counted(damaged, 'run')} could not be read and ${damaged === 1 ? 'is' : 'are'} in no count.`
}
