import type { Command } from 'commander'
import { VIEW_ROUTES } from '../../../shared/api/view-routes.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { type TargetOptions, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

const ListSchema = VIEW_ROUTES['list-views'].answer.loose()
const ViewSchema = VIEW_ROUTES['put-view'].answer.loose()
const GoneSchema = VIEW_ROUTES['delete-view'].answer.loose()

/** `sluice view ..`: searches with names. */
export function addView(parent: Command, session: Session): void {
  const view = parent.command('view').description('searches of runs with names, for everybody of the tenant')
  withReadingOptions(view.command('list').description('every name and its search')).action((options: TargetOptions) =>
    list(session, options),
  )
  withTargetOptions(view.command('save').description('give a search a name, or another search to a name'))
    .argument('<name>', 'what you call it')
    .argument('<query...>', 'as sluice run search takes it')
    .action((name: string, query: readonly string[], options: TargetOptions) =>
      put(session, name, { q: query.join(' ') }, options),
    )
  withTargetOptions(view.command('rename').description('give a search another name'))
    .argument('<name>', 'as `view list` shows it')
    .argument('<new-name>', 'what you call it from now on')
    .action((name: string, to: string, options: TargetOptions) => put(session, name, { name: to }, options))
  withTargetOptions(view.command('delete').description('take the name of a search away: no run changes'))
    .argument('<name>', 'as `view list` shows it')
    .action((name: string, options: TargetOptions) => remove(session, name, options))
}

/** A search with what a view says before it. Refused (exit code 1) unknown_view. */
export async function viewedQuery(target: Target, view: string | undefined, query: string): Promise<string> {
  if (view === undefined) return query
  const { views } = await read(target)
  const found = views.find(({ name }) => name === view)
  if (found !== undefined) return `${found.q} ${query}`.trim()
  const names = views.map(({ name }) => name).join(', ')
  const detail = `Cannot find view "${view}": there ${views.length === 0 ? 'is none' : `are ${names}`}. \`sluice view save\` makes one.`
  throw new Refused({ code: 'unknown_view', detail })
}

function read(target: Target) {
  return callApi(target, ListSchema, (api) => api.GET('/api/dag/views'))
}

async function list(session: Session, { url, json }: TargetOptions): Promise<void> {
  const answer = await read(chooseTarget(session, url))
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.views.length === 0) session.say('No search has a name.')
  for (const { name, q, by } of answer.views) session.say(oneLine(`${name}  ${q}  (${by})`))
}

async function put(
  session: Session,
  view: string,
  body: { readonly q?: string; readonly name?: string },
  { url, json }: TargetOptions,
): Promise<void> {
  const saved = await callApi(chooseTarget(session, url), ViewSchema, (api) =>
    api.PUT('/api/dag/views/{view}', { params: { path: { view } }, body }),
  )
  if (json === true) return session.say(jsonText(saved, 2))
  session.say(oneLine(`${saved.name}  ${saved.q}`))
}

async function remove(session: Session, view: string, { url, json }: TargetOptions): Promise<void> {
  const gone = await callApi(chooseTarget(session, url), GoneSchema, (api) =>
    api.DELETE('/api/dag/views/{view}', { params: { path: { view } } }),
  )
  if (json === true) return session.say(jsonText(gone, 2))
  session.say(`View ${gone.name} is no more.`)
}
