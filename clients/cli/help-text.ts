/** What the help of a command says besides its arguments and options. */
export interface CommandHelp {
  /** What a person reads on stdout. */
  readonly prints: string
  /** What a program gets with --json; without it the command has no --json. */
  readonly json?: string
  /** Exit codes that say more here than everywhere (0 ok, 1 failed or refused, 2 usage). */
  readonly exits?: Readonly<Record<number, string>>
  /** Whole command lines, without `sluice`. */
  readonly examples: readonly string[]
}
