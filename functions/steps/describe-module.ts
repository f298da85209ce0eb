import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import { type DescribedStep, portsOfSchema } from '../../shared/steps/described-step.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { watchProcesses } from './process-tree.ts'
import { type FromStep, readMessages } from './step-messages.ts'
import { killAll, removeFolder, startProcess } from './step-process.ts'

/** To load it and say what it is: nothing of its work. */
const DESCRIBE_MS = 20_000
const DESCRIBE_MB = 512

/** A bundled module: its text and what that is known by; the variables its settings give it. */
interface Code {
  readonly text: string
  readonly hash: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Loads a bundled module in a process of its own, as its attempts are run, and answers what it says it is. Fault
 * InvalidInput module_broken: it throws when it is loaded, exports no step, takes too much memory or says nothing in time.
 */
export async function describeModule(path: string, { text, hash, env }: Code, runner?: URL): Promise<DescribedStep> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-step-')))
  const equipment = { code: { module: text }, env, secrets: {}, memory_mb: DESCRIBE_MB }
  const started = await startProcess(folder, equipment, { runner, only: ['describe'] })
  const { child, channel } = started
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`it said nothing within ${DESCRIBE_MS} ms of being loaded`), DESCRIBE_MS)
  child.once('error', (error) => late.resolve(`it cannot be started: ${error.message}`))
  const watch = watchProcesses(child.pid, DESCRIBE_MB, (mb) =>
    late.resolve(`it used ${mb} MB of memory when it was loaded; ${DESCRIBE_MB} MB are allowed`),
  )
  for (const stream of [child.stdout, child.stderr]) stream?.resume()
  try {
    const said = await Promise.race([firstWord(channel.setEncoding('utf8')), late.promise])
    if (typeof said !== 'string' && said.type === 'described') {
      return { kind: 'module', hash, ...portsOf(said), effect: said.as.effect }
    }
    const why = typeof said === 'string' ? said : said.type === 'threw' ? said.message : 'it does not say what it is'
    throw new Fault('InvalidInput', 'module_broken', `Cannot take module "${path}": ${shortRedacted(why)}. Mend it.`)
  } finally {
    clearTimeout(timer)
    watch.stop()
    await killAll(started, watch)
    await removeFolder(folder)
  }
}

async function firstWord(pieces: AsyncIterable<string>): Promise<FromStep | string> {
  for await (const message of readMessages(pieces)) return message
  return 'its process ended when it was loaded, before it had said what it is'
}

function portsOf({ as }: Extract<FromStep, { type: 'described' }>) {
  return {
    inputs: portsOfSchema(as.inputs),
    outputs: portsOfSchema(as.outputs),
    config: as.config,
    input_schema: as.inputs,
    ...(as.description === undefined ? {} : { description: as.description }),
  }
}
