// The program animation makes an animated GIF of pictures.
//
//	go run testdata/screenshot/animation.go FRAMES GIF
//
// FRAMES is a file with a line for each picture: for how many hundredths of a second it is shown, and the
// name of a PNG file beside it. Pictures that are alike are one, and of each only what changed is written.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// colors is how many colors the animation has. The others become the one of them that is most like them.
const colors = 64

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: animation FRAMES GIF")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "animation:", err)
		os.Exit(1)
	}
}

// run writes the pictures that the file list names into the file out.
func run(list, out string) error {
	pictures, delays, err := read(list)
	if err != nil {
		return err
	}
	if len(pictures) == 0 {
		return fmt.Errorf("%s names no picture", list)
	}
	animation := assemble(pictures, delays)
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := gif.EncodeAll(file, animation); err != nil {
		file.Close()
		return fmt.Errorf("encode %s: %w", out, err)
	}
	return file.Close()
}

// read returns the pictures that the file list names, and for how long each is shown.
func read(list string) ([]image.Image, []int, error) {
	file, err := os.Open(list)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	var pictures []image.Image
	var delays []int
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var delay int
		var name string
		if _, err := fmt.Sscanf(lines.Text(), "%d %s", &delay, &name); err != nil {
			return nil, nil, fmt.Errorf("line %q of %s: %w", lines.Text(), list, err)
		}
		picture, err := decode(filepath.Join(filepath.Dir(list), name))
		if err != nil {
			return nil, nil, err
		}
		pictures, delays = append(pictures, picture), append(delays, delay)
	}
	return pictures, delays, nil
}

func decode(name string) (image.Image, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return picture, nil
}

// assemble makes an animation that begins again when it has ended.
func assemble(pictures []image.Image, delays []int) *gif.GIF {
	chosen := choose(pictures)
	animation := &gif.GIF{Config: image.Config{
		ColorModel: chosen,
		Width:      pictures[0].Bounds().Dx(),
		Height:     pictures[0].Bounds().Dy(),
	}}
	nearest := map[color.Color]uint8{}
	var last *image.Paletted
	for i, picture := range pictures {
		frame := image.NewPaletted(picture.Bounds(), chosen)
		for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
			for x := frame.Rect.Min.X; x < frame.Rect.Max.X; x++ {
				c := picture.At(x, y)
				index, known := nearest[c]
				if !known {
					index = uint8(chosen.Index(c))
					nearest[c] = index
				}
				frame.SetColorIndex(x, y, index)
			}
		}
		changed := frame.Rect
		if last != nil {
			changed = difference(last, frame)
		}
		if changed.Empty() {
			animation.Delay[len(animation.Delay)-1] += delays[i]
			continue
		}
		part := image.NewPaletted(changed, chosen)
		draw.Draw(part, changed, frame, changed.Min, draw.Src)
		animation.Image = append(animation.Image, part)
		animation.Delay = append(animation.Delay, delays[i])
		animation.Disposal = append(animation.Disposal, gif.DisposalNone)
		last = frame
	}
	return animation
}

// choose returns the colors that most pixels of pictures have.
func choose(pictures []image.Image) color.Palette {
	counts := map[color.Color]int{}
	for _, picture := range pictures {
		bounds := picture.Bounds()
		for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
			for x := bounds.Min.X; x < bounds.Max.X; x++ {
				counts[picture.At(x, y)]++
			}
		}
	}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return color.Palette(most[:min(colors, len(most))])
}

// difference returns the smallest rectangle outside of which a and b are alike.
func difference(a, b *image.Paletted) image.Rectangle {
	var changed image.Rectangle
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		for x := b.Rect.Min.X; x < b.Rect.Max.X; x++ {
			if a.ColorIndexAt(x, y) != b.ColorIndexAt(x, y) {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return changed
}
