import { PassThrough } from 'node:stream'
import { runCommandLine } from '../../clients/cli/run-command-line.ts'

/**
 * A process of its own that runs one command line after another for run-cli.ts: the commands, their folder, environment,
 * streams and exit codes are those of a person's `sluice`, only the start of Node and the loading of modules are not paid
 * again for each.
 */
export interface CommandLine {
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
}

/** What one command line did. */
export interface Done {
  readonly code: number
  readonly out: string
  readonly err: string
}

const said = { out: '', err: '' }
keep(process.stdout, 'out')
keep(process.stderr, 'err')
process.on('message', async (line: CommandLine) => {
  process.send?.(await run(line))
})
process.once('disconnect', () => process.exit())

async function run({ args, cwd, env, stdin }: CommandLine): Promise<Done> {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const input = new PassThrough()
  input.end(stdin)
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  Object.assign(said, { out: '', err: '' })
  process.exitCode = undefined
  const code = await runCommandLine([process.execPath, 'sluice', ...args])
  process.exitCode = undefined
  return { code, ...said }
}

function keep(stream: NodeJS.WriteStream, name: keyof typeof said): void {
  const decoder = new TextDecoder()
  stream.write = (piece: string | Uint8Array, ...more: readonly unknown[]) => {
    said[name] += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    for (const done of more) if (typeof done === 'function') done()
    return true
  }
}
