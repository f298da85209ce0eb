import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleModule, bundlePackage } from './bundle-module.ts'

/**
 * The exports of a package that the project has installed, or of a module below its folder, for providers of type `ai-sdk`.
 * It runs in this process: whoever wrote the settings named it. `folder`: where its text is put, one file for each hash.
 */
export async function loadPackage(root: string, from: string, folder: string): Promise<object> {
  const { text, hash } = await (from.startsWith('./') ? bundleModule(root, from) : bundlePackage(root, from))
  const file = join(folder, `${hash}.mjs`)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true })
    // Whole or not at all: another process may read it meanwhile.
    const making = `${file}.${process.pid}`
    writeFileSync(making, text, { mode: 0o600 })
    renameSync(making, file)
  }
  return import(pathToFileURL(file).href)
}
