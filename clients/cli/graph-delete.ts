import { createReadStream } from 'node:fs'
import type { Command } from 'commander'
import { GRAPH_ROUTES, type ItemResult } from '../../shared/api/graph-routes.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import { splitLines } from '../../shared/split-lines.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { jsonText } from './json-text.ts'
import { patientCall } from './patient-call.ts'
import { oneLine } from './plain-text.ts'
import { readablePath } from './read-file.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

interface DeleteOptions extends TargetOptions {
  readonly file?: string
}

export function addGraphDelete(graph: Command, session: Session): void {
  withTarget(graph.command('delete').description('delete entities with all they state, by id'))
    .argument('[entity-ids...]')
    .option('--file <file>', 'ids from a file, one a line, or the lines of an import; - reads stdin')
    .action((ids: readonly string[], options: DeleteOptions) => graphDelete(session, ids, options))
}

async function graphDelete(session: Session, named: readonly string[], options: DeleteOptions): Promise<void> {
  const ids = [...named, ...(options.file === undefined ? [] : await idsOf(options.file))]
  if (ids.length === 0) throw usage('Name the entities to delete, or a --file of ids.')
  const target = chooseTarget(session, options.url)
  const results: ItemResult[] = []
  for (let at = 0; at < ids.length; at += BATCH) {
    const some = ids.slice(at, at + BATCH)
    const sent = await patientCall(() => remove(target, some), { note: (why) => session.warn(why) })
    results.push(...sent.map((result) => ({ id: some[result.at] ?? '', ...result, at: at + result.at })))
  }
  if (options.json === true) session.say(jsonText({ results }, 2))
  else sayDeleted(session, results)
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
}

async function remove(target: Target, entity_ids: readonly string[]): Promise<readonly ItemResult[]> {
  const answer = GRAPH_ROUTES['delete-entities'].answer.loose()
  const body = { entity_ids: [...entity_ids] }
  return (await callApi(target, answer, (api) => api.DELETE('/api/graph/entities', { body }))).results
}

function sayDeleted(session: Session, results: readonly ItemResult[]): void {
  const refused = results.filter(({ ok }) => !ok)
  for (const { id = '', error } of refused) session.warn(`${oneLine(id)}: ${oneLine(error?.message ?? 'not deleted')}`)
  const deleted = results.filter(({ outcome }) => outcome === 'deleted').length
  const absent = results.filter(({ outcome }) => outcome === 'absent').length
  session.say(`Deleted ${deleted}, ${absent} not there, ${refused.length} refused.`)
}

async function idsOf(file: string): Promise<readonly string[]> {
  const pieces = file === '-' ? process.stdin : createReadStream(readablePath(file, 'the file'))
  const ids: string[] = []
  for await (const line of splitLines(pieces.setEncoding('utf8'))) {
    const id = idOf(line.trim())
    if (id !== '') ids.push(id)
  }
  return ids
}

/** A bare id, or the entity_id of a line of an import; whatever else stands there is sent as it is, and refused. */
function idOf(line: string): string {
  if (!line.startsWith('{')) return line
  const found = /"entity_id"\s*:\s*"([^"\\]*)"/.exec(line)
  return found?.[1] ?? line.slice(0, 300)
}
