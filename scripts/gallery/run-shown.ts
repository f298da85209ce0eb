import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../clients/cli/sluice.mjs', import.meta.url))
const MAX_LINES = 14

/** Runs a command line of `sluice` in a folder and answers what is worth showing of it; a failed one is an error. */
export async function runShown(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [CLI, ...words], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`sluice ${words.join(' ')} ended with ${code}:\n${out}`)
  return shortened(out.trimEnd().split('\n').filter(isTelling).map(withoutChance))
}

/** What happened to the run; that a block started, worked and ended well is the picture's to say. */
function isTelling(line: string): boolean {
  if (line.startsWith('In a browser:')) return false
  return !/^ +[\d.]+ s {2}(.*: (?:started|completed|attempt \d+ started)$|.* gave |.*: gate .* passed|run of )/.test(
    line,
  )
}

/** Ids, times and folders differ from run to run. */
function withoutChance(line: string): string {
  return line
    .replace(/run_[0-9a-z]{26}/g, 'RUN')
    .replace(/^ +[\d.]+ s {2}/, '  ')
    .replace(/ in [\d.]+ m?s/g, '')
    .replace(/ after [\d.]+ m?s$/, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/ at http:\S+/, ' at http://127.0.0.1:PORT')
    .replace(/kept in \S+/, 'kept in .sluice')
    .replace(/: \S*\/artifacts\/RUN/, ': .sluice/artifacts/RUN')
    .replace(/by user:\S+/g, 'by user:YOU')
}

function shortened(lines: readonly string[]): readonly string[] {
  const width = (line: string) => (line.length > 170 ? `${line.slice(0, 170)} ..` : line)
  if (lines.length <= MAX_LINES) return lines.map(width)
  const last = lines.slice(-4)
  return [...lines.slice(0, MAX_LINES - 5), `  .. ${lines.length - MAX_LINES + 1} more lines`, ...last].map(width)
}
