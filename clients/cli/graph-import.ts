import { createReadStream } from 'node:fs'
import { type Command, Option } from 'commander'
import { chooseTarget } from './api.ts'
import { commandLine } from './command-line.ts'
import { IMPORT_FORMS, type Imported, type ImportForm, importGraph } from './import-graph.ts'
import { jsonText } from './json-text.ts'
import { oneLine } from './plain-text.ts'
import { readablePath } from './read-file.ts'
import { reasonLines } from './reason-lines.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'
import { count } from './words.ts'

interface ImportOptions extends TargetOptions {
  readonly from: ImportForm
  readonly fromLine?: number
}

export function addGraphImport(graph: Command, session: Session): void {
  withTarget(graph.command('import').description('put entities and triples of a file into the graph'))
    .argument('<file>', 'an entity or a triple a line (docs/research.md); - reads stdin')
    .addOption(
      new Option('--from <form>', 'whose file it is; semstreams: its entity states, a JSON list or one a line')
        .choices(IMPORT_FORMS)
        .default('sluice'),
    )
    .option('--from-line <n>', 'go on from this line; of a JSON list, from this item', wholeNumber(1, 1_000_000_000))
    .action((file: string, options: ImportOptions) => graphImport(session, file, options))
}

async function graphImport(session: Session, file: string, options: ImportOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const pieces = file === '-' ? process.stdin : createReadStream(readablePath(file, 'the file'))
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop)
  const progress = showProgress(session, options.json === true)
  const imported = await importGraph(target, pieces.setEncoding('utf8'), {
    from: options.fromLine ?? 1,
    form: options.from,
    signal: stopped.signal,
    progress: progress.show,
  })
  process.off('SIGINT', stop)
  progress.end()
  if (options.json === true) session.say(jsonText(asJson(imported), 2))
  else sayImported(session, imported)
  if (imported.stopped !== undefined) {
    for (const line of reasonLines(imported.stopped.reason, session.settings.command)) session.warn(line)
    const form = options.from === 'sluice' ? '' : ` --from ${options.from}`
    const again = commandLine(session, target, `graph import ${file}${form} --from-line ${imported.next_line}`)
    session.warn(`What was sent is in the graph. Go on with: ${again}`)
  }
  process.exitCode = imported.stopped === undefined && imported.refused === 0 ? 0 : 1
}

/** Errors told on a terminal; --json has more. */
const TOLD = 20

function sayImported(session: Session, { outcomes, refused, errors }: Imported): void {
  for (const { line, id, code, message } of errors.slice(0, TOLD)) {
    session.warn(`line ${line}${id === undefined ? '' : ` (${oneLine(id)})`}: ${oneLine(message)} [${code}]`)
  }
  if (refused > TOLD) session.warn(`.. and ${count(refused - TOLD, 'more line')}; --json lists up to 1000.`)
  const done = Object.values(outcomes).reduce((sum, one) => sum + one, 0)
  const words = Object.entries(outcomes).map(([outcome, times]) => `${times} ${outcome}`)
  session.say(
    `${count(done, 'line')} imported${words.length === 0 ? '' : ` (${words.join(', ')})`}, ${refused} refused.`,
  )
}

function asJson({ stopped, ...imported }: Imported) {
  return { ...imported, ...(stopped && { stopped: stopped.reason }) }
}

/** On a terminal one line that changes; elsewhere a line each ten seconds. Always on stderr. */
function showProgress(session: Session, quiet: boolean) {
  let said = Date.now()
  let open = false
  const draw = (text: string) => {
    if (session.live) process.stderr.write(`\r\u001b[0K${text}`)
    else session.warn(text)
    open = session.live
  }
  return {
    show({ line, done, refused, waits }: Parameters<Parameters<typeof importGraph>[2]['progress']>[0]) {
      const due = Date.now() - said > (session.live ? 100 : 10_000)
      if (quiet || !(due || waits !== undefined)) return
      said = Date.now()
      draw(`line ${line}: ${done} imported, ${refused} refused${waits === undefined ? '' : `; ${waits}`}`)
    },
    end() {
      if (open) process.stderr.write('\r\u001b[0K')
    },
  }
}
