import { closeSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Waits until the content of a file, or the names in a folder, are on the disk. */
export function toDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The same of the name of a new file, and of the folders that had to be made for it: `made` is the first of them. */
export function namesToDisk(path: string, made: string | undefined): void {
  const last = made === undefined ? dirname(path) : dirname(made)
  for (let one = dirname(path); ; one = dirname(one)) {
    toDisk(one)
    if (one === last || one === dirname(one)) return
  }
}
