import type { Command, CommandOptions } from 'commander'
import { SEARCH_ROUTES } from '../../../shared/api/search-routes.ts'
import { FIELD_NAMES, queryField } from '../../../shared/search-runs/fields.ts'
import { callApi, chooseTarget, commandLine } from '../server/api.ts'
import { type TargetOptions, wholeNumber, withReadingOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import { ListSchema, sayRuns } from './list.ts'
import { viewedQuery } from './views.ts'

interface SearchOptions extends TargetOptions {
  readonly limit?: number
  readonly cursor?: string
  readonly view?: string
}

/** `sluice run search`: the terms are one text, so that no quotes are needed around all of them. */
export function addSearch(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(parent.command('search', hidden).description('runs that a search finds, newest first'))
    .argument('[query...]', 'words and terms, as state:failed; without any: every run')
    .option('--limit <n>', 'at most this many, 1 to 200 (default: 50)', wholeNumber(1, 200))
    .option('--view <name>', 'the search of this name; what is given besides has to hold too')
    .option('--cursor <cursor>', 'continue a search: the cursor its last line names')
    .addHelpText('after', `\n${fieldLines().join('\n')}`)
    .action((query: readonly string[], options: SearchOptions) => search(session, query.join(' '), options))
}

/** Every field with what it is and an example. */
function fieldLines(): readonly string[] {
  const rows = FIELD_NAMES.map((name) => [queryField(name).example, queryField(name).words] as const)
  const width = Math.max(...rows.map(([example]) => example.length))
  return [
    'Every term has to hold; one with "-" before it must not. a,b means one of',
    'both; <, >, <=, >= and a..b compare. Words are those of inputs and outputs',
    'marked "search: true", and of why a run failed.',
    ...rows.map(([example, words]) => `  ${example.padEnd(width)}  ${words}`),
  ]
}

async function search(session: Session, given: string, options: SearchOptions): Promise<void> {
  const { url, json, limit, cursor, view } = options
  const target = chooseTarget(session, url)
  const q = await viewedQuery(target, view, given)
  const query = { q, ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) }
  const answer = await callApi(target, AnswerSchema, (api) => api.GET('/api/dag/search', { params: { query } }))
  if (json === true) return session.say(jsonText(answer, 2))
  sayRuns(session, answer, 'No run is like that.')
  const { next_cursor } = answer
  if (next_cursor === null) return
  const same = limit === undefined ? '' : ` --limit ${limit}`
  session.say(
    `More: ${commandLine(session, target, `run search ${shellWord(q)}${same} --cursor ${shellWord(next_cursor)}`)}`,
  )
}

/** One word of a shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const AnswerSchema = SEARCH_ROUTES['search-runs'].answer.extend({ runs: ListSchema.shape.runs }).loose()
