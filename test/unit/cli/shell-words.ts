/** Words of a command line as a shell makes them: quotes are taken off, redirections are left out. */
export function shellWords(line: string): readonly string[] {
  const [command = ''] = line.split(/ [<>] /)
  return (command.match(/(?:[^\s"]+|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ''))
}
