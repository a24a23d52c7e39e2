/** Served beside the scripts of the site, from the package of that name. */
export { default } from 'minisearch';
