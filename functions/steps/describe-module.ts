import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import { type DescribedStep, portsOfSchema } from '../../shared/steps/described-step.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { splitLines } from '../../shared/text/split-lines.ts'
import { type FromStep, readMessage } from './step-messages.ts'
import { killAll, startProcess } from './step-process.ts'

/** To load it and say what it is: nothing of its work. */
const DESCRIBE_MS = 20_000
const DESCRIBE_MB = 512

/** A bundled module: its text and what that is known by. */
interface Code {
  readonly text: string
  readonly hash: string
}

/**
 * Loads a bundled module in a process of its own, as its attempts are run, and answers what it says it is. Fault
 * InvalidInput module_broken: it throws when it is loaded, exports no step, or says nothing in time.
 */
export async function describeModule(path: string, { text, hash }: Code, runner?: URL): Promise<DescribedStep> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-step-')))
  const equipment = { code: { module: text }, env: {}, secrets: {}, memory_mb: DESCRIBE_MB }
  const { child, channel } = await startProcess(folder, equipment, { runner, only: ['describe'] })
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`it said nothing within ${DESCRIBE_MS} ms of being loaded`), DESCRIBE_MS)
  child.once('error', (error) => late.resolve(`it cannot be started: ${error.message}`))
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
    await killAll(child, folder)
    await rm(folder, { recursive: true, force: true })
  }
}

async function firstWord(pieces: AsyncIterable<string>): Promise<FromStep | string> {
  for await (const line of splitLines(pieces)) return readMessage(line)
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
