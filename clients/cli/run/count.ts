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

async function countRuns(session: Session, query: string, { url, json, by, over, view }: CountOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const q = await viewedQuery(target, view, query)
  const parts: RunCount[] = []
  let runs = 0
  let damaged = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await readPage(target, {
      q,
      by,
      ...(over !== undefined && { over }),
      ...(cursor !== undefined && { cursor }),
    })
    for (const { value, day, runs: some, tokens, usd } of page.counts) {
      const named = { ...(value !== null && { value }), ...(day !== undefined && { day }) }
      parts.push({ ...named, runs: some, tokens, usd_micros: Math.round(usd * 1_000_000) })
    }
    runs += page.counted
    damaged += page.damaged
    cursor = page.next_cursor
  }
  const all = joinCounts(parts)
  if (json === true) {
    const counts = all.map(({ usd_micros, value = null, ...one }) => ({ value, ...one, usd: usd_micros / 1_000_000 }))
    return session.say(jsonText({ counts, counted: runs, damaged }, 2))
  }
  for (const { value, day, runs: some, tokens, usd_micros } of all) {
    const cost = `${tokens} tokens, ${usdWords(usd_micros / 1_000_000)}`
    session.say(oneLine(`${day === undefined ? '' : `${day}  `}${value ?? '(none)'}  ${counted(some, 'run')}, ${cost}`))
  }
  const unread =
    damaged === 0
      ? ''
      : ` ${counted(damaged, 'run')} could not be read and ${damaged === 1 ? 'is' : 'are'} in no count.`
  session.say(`${counted(runs, 'run')} in all. Costs are as far as prices are known.${unread}`)
}

function readPage(
  target: Target,
  query: { readonly q: string; readonly by: string; readonly over?: 'day'; readonly cursor?: string },
): Promise<Answer> {
  return callApi(target, AnswerSchema, (api) => api.GET('/api/dag/count', { params: { query } }))
}
