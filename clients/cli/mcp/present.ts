type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** The members that were given: a parsed argument that is left out may stand there as undefined. */
export function present<T extends object>(values: T): Present<T> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  // Without them it has the type that says so.
  return Object.fromEntries(given) as Present<T>
}
