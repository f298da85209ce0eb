const MOST_BYTES = 2_048

/** The first names, as many as an event has room for; A# holds them all, and only it is asked who may decide. */
export function fewNames(names: readonly string[]): string[] {
  let bytes = 0
  return names.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= MOST_BYTES
  })
}
