import { homedir, userInfo } from 'node:os'

/** Makes two runs of the same commands print the same: names, ids, times, sizes of this machine are replaced. */
export function normaliser(folder: string, port: string): (text: string) => string {
  const numbered = new Map<string, string>()
  const runName = (id: string) => {
    const name = numbered.get(id) ?? `run_${String(numbered.size + 1).padStart(26, '0')}`
    numbered.set(id, name)
    return name
  }
  return (text) =>
    text
      .replaceAll(folder, '/home/ana')
      .replaceAll(homedir(), '/home/ana')
      .replace(/(?<=127\.0\.0\.1:)\d+/g, (seen) => (seen === port ? '4040' : '4041'))
      .replace(new RegExp(`\\buser:${userInfo().username}\\b`, 'g'), 'user:ana')
      .replace(/\brun_([0-9a-z]{26})\b/g, (id) => runName(id))
      .replace(/\bapr_([0-9a-z]{26})/g, (_, id: string) => `apr_${runName(`run_${id}`).slice('run_'.length)}`)
      .replace(/\b[0-9a-f]{64}\b/g, '0'.repeat(64))
      .replace(/\b20\d\d-\d\d-\d\dT[\d:]+(\.\d+)?Z/g, '2026-01-31T12:00:00.000Z')
      .replace(/\b\d+(\.\d+)? s\b/g, '0.10 s')
      .replace(/("\w*_ms": )\d+(\.\d+)?/g, '$110')
      .replace(/("(?:pid|latency|duration)": ?)\d+/g, '$14711')
      .replace(/\bprocess \d+/g, 'process 4711')
      .replace(/\bpid \d+/g, 'pid 4711')
      .replace(/[\d.]+ (MiB|GiB) free/g, '61.2 GiB free')
      .replace(/\bv24\.\d+\.\d+/g, 'v24.0.0')
}
