import type { Command, CommandOptions } from 'commander'
import { SEARCH_ROUTES } from '../../../shared/api/search-routes.ts'
import { labelWords } from '../../../shared/runs/labels.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { readLabelPairs } from '../terminal/input-values.ts'
import { type TargetOptions, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

interface LabelOptions extends TargetOptions {
  readonly remove?: readonly string[]
}

/** `sluice run label`, `note` and `notes`. */
export function addNotes(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTargetOptions(parent.command('label', hidden).description('change the labels of a run; also after its end'))
    .argument('<run-id>')
    .argument('[label...]', 'key=value: labels to set')
    .option('--remove <key>', 'take a label away; repeat it', (key, keys: string[] = []) => [...keys, key])
    .action((runId: string, pairs: readonly string[], options: LabelOptions) => label(session, runId, pairs, options))
  withTargetOptions(parent.command('note', hidden).description('write a note to a run; also after its end'))
    .argument('<run-id>')
    .argument('<text>', 'what others are to know of it')
    .action(async (runId: string, text: string, options: TargetOptions) => {
      const { note } = await annotate(session, runId, { text }, options)
      if (options.json !== true) session.say(`Noted as ${note.by}.`)
    })
  withReadingOptions(
    parent.command('notes', hidden).description('what people wrote to a run, and how its labels were changed'),
  )
    .argument('<run-id>')
    .action((runId: string, options: TargetOptions) => listNotes(session, runId, options))
}

async function label(
  session: Session,
  runId: string,
  pairs: readonly string[],
  { remove = [], ...options }: LabelOptions,
): Promise<void> {
  if (pairs.length + remove.length === 0) {
    const detail = 'Cannot label: neither a label nor --remove is given. Give KEY=VALUE, as team=growth.'
    throw new Refused({ code: 'no_labels', detail }, { exitCode: 2 })
  }
  const labels = {
    ...(pairs.length > 0 && { set: readLabelPairs(pairs) }),
    ...(remove.length > 0 && { remove: [...remove] }),
  }
  const answer = await annotate(session, runId, { labels }, options)
  if (options.json !== true) session.say(`Labels: ${oneLine(labelWords(answer.labels)) || 'none'}`)
}

const ADD = SEARCH_ROUTES['add-note'].answer.loose()

async function annotate(
  session: Session,
  run_id: string,
  body: {
    readonly text?: string
    readonly labels?: { readonly set?: Record<string, string>; readonly remove?: string[] }
  },
  { url, json }: TargetOptions,
) {
  const answer = await callApi(chooseTarget(session, url), ADD, (api) =>
    api.POST('/api/dag/runs/{run_id}/notes', { params: { path: { run_id } }, body }),
  )
  if (json === true) session.say(jsonText(answer, 2))
  return answer
}

async function listNotes(session: Session, run_id: string, { url, json }: TargetOptions): Promise<void> {
  const answer = await callApi(chooseTarget(session, url), SEARCH_ROUTES['list-notes'].answer.loose(), (api) =>
    api.GET('/api/dag/runs/{run_id}/notes', { params: { path: { run_id } } }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  if (answer.notes.length === 0) return session.say('No notes.')
  for (const { at, by, text, labels } of answer.notes) {
    const set = labels === undefined ? '' : labelWords(labels.set)
    const removed = labels?.removed.map((key) => `-${key}`) ?? []
    const changed = [set, ...removed].filter((part) => part !== '').join(' ')
    const words = [text ?? '', changed === '' ? '' : `labels: ${changed}`].filter((part) => part !== '')
    session.say(oneLine(`${at.replace(/\.\d+Z$/, 'Z')}  ${by}  ${words.join('  ')}`))
  }
}
