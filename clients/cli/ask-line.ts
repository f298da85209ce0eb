import { createInterface } from 'node:readline/promises'

/** What is typed after a question on the terminal; undefined where nothing was: Ctrl-C, or the end of the input. */
export async function askLine(question: string): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const left = new Promise<undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined))
    // A terminal that is read line by line hands Ctrl-C over instead of ending the process.
    terminal.once('SIGINT', () => terminal.close())
  })
  try {
    const line = await Promise.race([terminal.question(question), left])
    if (line === undefined) process.stderr.write('\n')
    return line?.trim()
  } finally {
    terminal.close()
  }
}
