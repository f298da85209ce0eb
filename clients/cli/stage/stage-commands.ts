import type { Command } from 'commander'
import { chooseTarget } from '../server/api.ts'
import { count, sizeWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { exportStage } from './export-stage.ts'
import { importStage } from './import-stage.ts'

/** `sluice stage ..`: a copy of what a stage has (docs/operate.md, "A copy of a stage"). */
export function addStage(parent: Command, session: Session): void {
  const stage = parent
    .command('stage')
    .description('a copy of what a stage has: into a folder, and from there into another stage')
  withReadingOptions(
    stage.command('export').description('ended runs, bodies, graph, triggers and spending of a tenant, into a folder'),
  )
    .argument('<folder>', 'made where it is not there; a copy that was begun, or is older, is gone on with')
    .action((folder: string, options: TargetOptions) => saveStage(session, folder, options))
  withTargetOptions(
    stage.command('import').description('take a copy: what is not there is added, nothing that is there is changed'),
  )
    .argument('<folder>', 'what `stage export` wrote')
    .action((folder: string, options: TargetOptions) => takeStage(session, folder, options))
}

/** Told by name in the terminal; JSON has all of them. */
const NAMED = 10

async function saveStage(session: Session, folder: string, { url, json }: TargetOptions): Promise<void> {
  const note = (why: string) => session.warn(why)
  const told = await exportStage(chooseTarget(session, url), folder, note)
  if (json === true) return session.say(jsonText(told, 2))
  const { runs, bodies, bytes, fetched, tenant, left_out } = told
  const came = `${count(fetched.runs, 'run')} and ${fetched.bodies === 1 ? '1 body' : `${fetched.bodies} bodies`} of it now`
  session.say(`${folder}: tenant ${tenant}, ${count(runs, 'run')}, ${bodies} bodies, ${sizeWords(bytes)}; ${came}.`)
  for (const { what, why } of left_out.slice(0, NAMED)) session.say(plainText(`Left out: ${what} (${why})`))
  if (left_out.length > NAMED) session.say(`Left out: ${left_out.length - NAMED} more, see stage.json`)
}

async function takeStage(session: Session, folder: string, { url, json }: TargetOptions): Promise<void> {
  const note = (why: string) => session.warn(why)
  const told = await importStage(chooseTarget(session, url), folder, note)
  const { taken, there, bodies, refused } = told
  if (json === true) session.say(jsonText(told, 2))
  else {
    session.say(`${folder}: ${count(taken, 'record')} taken, ${there} there already, ${bodies} bodies sent.`)
    for (const { id, message } of refused.slice(0, NAMED)) session.say(plainText(`Refused: ${id}: ${message}`))
    if (refused.length > NAMED) session.say(`Refused: ${refused.length - NAMED} more, see --json`)
  }
  if (refused.length === 0) return
  const detail = `${count(refused.length, 'record')} of the copy could not be taken; what is there stays as it is.`
  throw new Refused({ code: 'copy_refused', detail })
}
